"""練習の答えを調べる関数です。1ページに1つのモジュールがあります。

合格なら1行を表示し、まだなら :class:`NotYet` の文で、何が違うかを伝えます。
"""

from attention_book.exercises._grade import NotYet
from attention_book.exercises.by_hand import check_second_row, check_softmax, check_turned_token
from attention_book.exercises.capstone import check_capstone
from attention_book.exercises.cost import check_attend_block, check_cache_bytes
from attention_book.exercises.explanation import check_other_weights
from attention_book.exercises.inside import check_ablation, check_induction_score
from attention_book.exercises.mask_apis import check_mha_mask
from attention_book.exercises.masks import check_causal_weights, check_repaired_masks
from attention_book.exercises.multi_head import check_heads, check_prune_head
from attention_book.exercises.positions import check_position_head, check_rotation
from attention_book.exercises.projections import check_difference, check_ignore_self
from attention_book.exercises.scaling import check_divisor, check_head_scores
from attention_book.exercises.self_attention import check_cross_attention, check_name_ratio
from attention_book.exercises.torch_mha import check_mha_shapes
from attention_book.exercises.weighted_lookup import check_soft_lookup
from attention_book.exercises.why_attention import check_path_length

__all__ = [
    "NotYet",
    "check_ablation",
    "check_attend_block",
    "check_cache_bytes",
    "check_capstone",
    "check_causal_weights",
    "check_cross_attention",
    "check_difference",
    "check_divisor",
    "check_head_scores",
    "check_heads",
    "check_ignore_self",
    "check_induction_score",
    "check_mha_mask",
    "check_mha_shapes",
    "check_name_ratio",
    "check_other_weights",
    "check_path_length",
    "check_position_head",
    "check_prune_head",
    "check_repaired_masks",
    "check_rotation",
    "check_second_row",
    "check_soft_lookup",
    "check_softmax",
    "check_turned_token",
]
