"""動かして確かめるAttention：本のページが使う、小さなAttentionの実装です。

読む順は softmax、masks、attention、heads、multihead、positions、cache、blockwise、online、
additive、kernel です。
計算に使うのはNumPyだけで、図を描く figures だけがmatplotlibを使います。
interactive は、サイトで読者が動かせる図の、もとになる表を作ります。
data は学習したモデルなどを読み、explorer はそのヘッドを調べます。
"""

from attention_book.additive import additive_attention
from attention_book.attention import scaled_dot_product_attention
from attention_book.blockwise import blockwise_attention
from attention_book.cache import KVCache
from attention_book.heads import merge_heads, split_heads
from attention_book.kernel import kernel_regression
from attention_book.masks import causal_mask, padding_mask
from attention_book.multihead import MultiHeadAttention
from attention_book.online import online_attention
from attention_book.positions import rotary_positions, sinusoidal_positions
from attention_book.softmax import entropy, softmax, softmax_jacobian

__version__ = "0.1.0"

__all__ = [
    "KVCache",
    "MultiHeadAttention",
    "additive_attention",
    "blockwise_attention",
    "causal_mask",
    "entropy",
    "kernel_regression",
    "merge_heads",
    "online_attention",
    "padding_mask",
    "rotary_positions",
    "scaled_dot_product_attention",
    "sinusoidal_positions",
    "softmax",
    "softmax_jacobian",
    "split_heads",
]
