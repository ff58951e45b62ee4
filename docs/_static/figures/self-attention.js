// One layer against two.

import { explore } from "./heads.js";

explore("self-attention", ["he-one-layer", "he-two-layers"]);
