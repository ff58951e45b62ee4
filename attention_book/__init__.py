"""動かして確かめるAttention：本のページが使う、小さなAttentionの実装です。

読む順は softmax、masks、attention、multihead です。
計算に使うのはNumPyだけで、図を描く figures だけがmatplotlibを使います。
"""

from attention_book.attention import scaled_dot_product_attention
from attention_book.masks import causal_mask, padding_mask
from attention_book.multihead import MultiHeadAttention, merge_heads, split_heads
from attention_book.softmax import softmax

__version__ = "0.1.0"

__all__ = [
    "MultiHeadAttention",
    "causal_mask",
    "merge_heads",
    "padding_mask",
    "scaled_dot_product_attention",
    "softmax",
    "split_heads",
]
