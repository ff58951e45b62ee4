// One head against two, in one layer.

import { explore } from "./heads.js";

explore("multi-head", ["he-one-layer", "he-two-heads"]);
