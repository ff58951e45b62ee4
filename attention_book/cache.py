"""KVキャッシュ：1トークンずつ生成するとき、過去のキーとバリューを作り直さずに済ませます。"""

import numpy as np

from attention_book._inputs import as_sequence


class KVCache:
    """キーとバリューを、後ろへ足していく入れ物です。

    場所が足りなくなると、2倍の場所を用意して写します。
    写す回数は、足した回数の対数ほどで済みます。

    References
    ----------
    Shazeer (2019), "Fast Transformer Decoding: One Write-Head is All You Need".

    Examples
    --------
    >>> import numpy as np
    >>> cache = KVCache()
    >>> key, value = cache.append(np.ones((2, 1, 4)), np.ones((2, 1, 3)))
    >>> key, value = cache.append(np.zeros((2, 1, 4)), np.zeros((2, 1, 3)))
    >>> len(cache), key.shape, value.shape
    (2, (2, 2, 4), (2, 2, 3))
    """

    def __init__(self):
        self._key = self._value = None
        self._length = 0

    def __len__(self):
        """これまでに足したトークンの数。"""
        return self._length

    def __copy__(self):
        """今までの中身を、写さずに分け合います。どちらに足しても、もう一方は変わりません。"""
        other = type(self)()
        if self._length:
            other._length = self._length
            # without room to spare: what is added next goes elsewhere
            other._key, other._value = (a[..., : self._length, :] for a in (self._key, self._value))
        return other

    def append(self, key, value):
        """新しいキーとバリューを足し、これまでの全部を返します。

        Parameters
        ----------
        key : array_like
            形 ``(..., n, head_dim)``。nは足すトークンの数です。
        value : array_like
            形 ``(..., n, value_dim)``。

        Returns
        -------
        key : numpy.ndarray
            形 ``(..., len(cache), head_dim)``。読み取り専用です。
        value : numpy.ndarray
            形 ``(..., len(cache), value_dim)``。読み取り専用です。

        Raises
        ------
        TypeError
            実数でないとき、前に足したものとdtypeが違うとき。
        ValueError
            `key` と `value` の長さが違うとき、長さのほかの形が前に足したものと違うとき。

        どの場合も、中身は変わりません。
        """
        key, value = self.extended(key, value)
        self.keep(key)
        return key, value

    def extended(self, key, value):
        """足した後のキーとバリューを返します。足すのは :meth:`keep` です。引数、戻り値、例外は :meth:`append` と同じです。"""
        new = [as_sequence("key", key), as_sequence("value", value)]
        if new[0].shape[:-1] != new[1].shape[:-1]:
            raise ValueError(
                f"key と value は、最後の次元のほかは同じ形にしてください: key {new[0].shape}、value {new[1].shape}。"
            )
        old = [self._key, self._value] if self._length else [None, None]
        for name, a, b in zip(("key", "value"), old, new, strict=True):
            if a is not None and (a.shape[:-2], a.shape[-1]) != (b.shape[:-2], b.shape[-1]):
                raise ValueError(
                    f"{name} の形は、長さのほかは前に足したものと同じにしてください: "
                    f"前は {(*a.shape[:-2], self._length, a.shape[-1])}、今は {b.shape}。"
                    "別の系列には、新しい KVCache() を作ります。"
                )
            if a is not None and a.dtype != b.dtype:
                raise TypeError(
                    f"{name} のdtypeが前に足したものと違います: 前は {a.dtype}、今は {b.dtype}。"
                    f"astype({a.dtype}) でそろえてください。"
                )
        end = self._length + new[0].shape[-2]
        self._key, self._value = (store(a, b, self._length, end) for a, b in zip(old, new, strict=True))
        return read_only(self._key[..., :end, :]), read_only(self._value[..., :end, :])

    def keep(self, key):
        """:meth:`extended` が返した `key` までを、足したことにします。"""
        self._length = key.shape[-2]


def read_only(view):
    view.flags.writeable = False
    return view


def store(array, new, start, end):
    """Write `new` at start:end, into twice the room where `array` is full."""
    if array is None or array.shape[-2] < end:
        room = np.empty((*new.shape[:-2], max(end, 2 * start), new.shape[-1]), new.dtype)
        if array is not None:
            room[..., :start, :] = array[..., :start, :]
        array = room
    array[..., start:end, :] = new
    return array
