"""Faults planted one by one into attention_book: (module, text there once, its replacement, what it breaks)."""

MUTANTS = [
    # softmax
    ("softmax", "scores -= np.where(top == -np.inf, 0, top)", "scores -= 0", "最大値を引かない"),
    ("softmax", "scores -= np.where(top == -np.inf, 0, top)", "scores -= top", "何も見えない行の最大値を守らない"),
    ("softmax", "e / np.maximum(total, 1)", "e / total", "何も見えない行の合計を守らない"),
    ("softmax", "total = e.sum(axis=axis,", "total = e.sum(axis=-1,", "合計の軸がいつも最後"),
    ("softmax", "exponentials(x.astype(work), axis)", "exponentials(x.astype(dtype), axis)", "float16のまま計算する"),
    ("softmax", "x.astype(work), axis", "x.astype(work, copy=False), axis", "呼んだ人の配列に書き込む"),
    (
        "softmax",
        "(e / np.maximum(total, 1)).astype",
        "np.nan_to_num(e / np.maximum(total, 1)).astype",
        "NaNを0に隠す",
    ),
    ("softmax", "dtype=w.dtype) - w[..., None, :]", "dtype=w.dtype) + w[..., None, :]", "ヤコビ行列の符号"),
    ("softmax", "np.log(np.where(w == 0, 1, w))", "np.log2(np.where(w == 0, 1, w))", "エントロピーの単位"),
    # masks
    ("masks", "k=offset, dtype", "k=offset - 1, dtype", "causalが1つずれる（自分が見えない）"),
    ("masks", "k=offset, dtype", "k=offset + 1, dtype", "causalが1つずれる（未来が見える）"),
    ("masks", "k=offset - window,", "k=offset - window - 1,", "windowが1つ広い"),
    ("masks", "np.arange(max_len) < lengths", "np.arange(max_len) >= lengths", "paddingの極性が逆"),
    ("masks", "[:, None, None, :]", "[:, None, :]", "paddingの形がバッチとLを取り違える"),
    # attention
    ("attention", "weights = softmax(scores)", "weights = softmax(scores, axis=-2)", "クエリの軸でsoftmax"),
    ("attention", "np.where(mask, scores, -np.inf)", "np.where(mask, -np.inf, scores)", "maskの極性が逆"),
    ("attention", "np.where(mask, scores, -np.inf)", "np.where(mask, scores, -1e9)", "maskを-1e9で埋める"),
    ("attention", "np.where(visible, scores, -np.inf)", "np.where(visible, scores, -1e9)", "causalを-1e9で埋める"),
    ("attention", "if band is not None:", "if band is not None and mask is None:", "maskがcausalを置き換える"),
    ("attention", "if mask is not None:", "if mask is not None and band is None:", "causalがmaskを置き換える"),
    ("attention", "scores += bias", "scores += 0", "biasを捨てる"),
    ("attention", "(output.astype(dtype), weights.astype(dtype))", "(output.astype(dtype), weights)", "重みのdtype"),
    ("attention", "where=overflowed(", "where=False & overflowed(", "桁あふれした行を0にする"),
    ("attention", "offset=first + offset", "offset=offset", "桁あふれを調べるcausalの位置"),
    ("attention", "visible & x.mask[head][..., rows, :]", "visible", "桁あふれを調べるときmaskを捨てる"),
    ("attention", "(x.bias[head][..., rows, :] != -np.inf)", "True", "桁あふれを調べるとき-infのbiasを捨てる"),
    # _inputs
    ("_inputs", "return dtype, np.promote_types(dtype, np.float32)", "return dtype, dtype", "float16を途中でも使う"),
    ("_inputs", "if mask.dtype != bool:", 'if mask.dtype.kind not in "bi":', "0と1のmaskを受け取る"),
    (
        "_inputs",
        "if key.shape[-2] != value.shape[-2]:",
        "if key.shape[-2] > value.shape[-2] + 9:",
        "keyとvalueの長さの違い",
    ),
    # _values
    (
        "_values",
        "not math.isclose(rounded, number, rel_tol=1e-3)",
        "math.isinf(rounded)",
        "float32で0になるscaleを受け取る",
    ),
    # _arguments
    ("_arguments", "query.shape[-1] ** -0.5 if scale", "1.0 if scale", "scaleを掛けない"),
    ("_arguments", "query.shape[-1] ** -0.5 if scale", "query.shape[-1] ** -1.0 if scale", "scaleが1/dになる"),
    (
        "_arguments",
        "offset is None and query_len != key_len",
        "offset is None and False",
        "長さが違うときにoffsetを推測する",
    ),
    ("_arguments", "min(max(offset, -query_len), key_len)", "min(max(offset, 0), key_len)", "負のoffsetを0にする"),
    (
        "_arguments",
        "np.repeat(x, query.shape[-3] // x.shape[-3], axis=-3)",
        "np.concatenate([x] * (query.shape[-3] // x.shape[-3]), axis=-3)",
        "共有するヘッドの並び",
    ),
    # blockwise
    ("blockwise", "np.maximum(total, 1)", "total", "何も見えない行の合計を守らない"),
    ("blockwise", "min(max(rows.stop + offset, 0)", "min(max(rows.stop + offset - 1, 0)", "区切りの最後のキーを飛ばす"),
    ("blockwise", "offset - window + 1", "offset - window + 2", "windowの最初のキーを飛ばす"),
    ("blockwise", "offset - future, dtype", "offset - future - 1, dtype", "causalが1つずれる"),
    ("blockwise", "offset - window, dtype", "offset - window - 1, dtype", "windowが1つ広い"),
    ("blockwise", "rows.start + offset - keys.start", "rows.start + offset", "区切ったキーの位置を忘れる"),
    ("blockwise", "where=~x.mask", "where=x.mask", "maskの極性が逆"),
    ("blockwise", "np.copyto(scores, -np.inf", "np.copyto(scores, -1e9", "maskを-1e9で埋める"),
    ("blockwise", "scores += x.bias[head][..., rows, keys]", "scores += 0", "biasを捨てる"),
    ("blockwise", "e[..., strip, :]", "e[..., : strip.stop, :]", "帯を重ねて、指数を2度取る"),
    ("blockwise", "del e  # before", "pass  # before", "前の区切りのスコアを持ち続ける（メモリ）"),
    (
        "blockwise",
        "math.prod(batch) * length <= block_size",
        "length <= block_size",
        "短いクエリなら、ヘッドがいくつでもまとめる（メモリ）",
    ),
    # online
    ("online", "a.total * x + b.total * y", "a.total + b.total", "合計を直さずに足す"),
    ("online", "a.mixed * x + b.mixed * y", "a.mixed + b.mixed", "混ぜたバリューを直さずに足す"),
    ("online", "safe = np.where(top == -np.inf, 0, top)", "safe = top", "まだ何も見ていない区切りを守らない"),
    ("online", "/ divisor(seen.total, x, head, rows)", "/ seen.total", "何も見えない行の合計を守らない"),
    ("online", "np.maximum(a.top, b.top)", "np.minimum(a.top, b.top)", "小さいほうの最大値にそろえる"),
    ("online", "blocks(some.start, some.stop, key", "blocks(some.start, some.stop - 1, key", "最後のキーを忘れる"),
    # cache
    ("cache", "room[..., :start, :] = array[..., :start, :]", "room[..., :start, :] = 0", "場所を広げると過去を忘れる"),
    ("cache", "array[..., start:end, :] = new", "array[..., : end - start, :] = new", "いつも先頭に書く"),
    ("cache", "max(end, 2 * start)", "end", "足すたびに全部を写す（速さ）"),
    ("cache", "(a[..., : self._length, :] for a in", "(a for a in", "写しと場所を分け合う"),
    ("cache", "view.flags.writeable = False", "view.flags.writeable = True", "読み取り専用でない"),
    # heads
    (
        "heads",
        "return x.swapaxes(-2, -3)",
        "return x.reshape(*batch, num_heads, length, -1)",
        "軸を入れ替えずに形だけ変える",
    ),
    (
        "heads",
        "x.reshape(*batch, length, num_heads, head_dim)",
        "x.reshape(*batch, length, head_dim, num_heads).swapaxes(-1, -2)",
        "ヘッドを1つおきに取る",
    ),
    (
        "heads",
        "x = x.swapaxes(-2, -3)  #",
        "x = x.reshape(*x.shape[:-3], *x.swapaxes(-2, -3).shape[-3:])  #",
        "つなぐ順",
    ),
    # multihead
    ("multihead", "@ self.out_proj_weight.T", "@ self.out_proj_weight", "出力の重みを転置しない"),
    ("multihead", "output = output + self.out_proj_bias", "pass", "出力のバイアスを捨てる"),
    ("multihead", "@ weight.T + bias", "@ weight.T", "入力のバイアスを捨てる"),
    ("multihead", "value = key if value is None", "value = query if value is None", "valueを省くとqueryを使う"),
    ("multihead", '"mask": mask,', '"mask": None,', "maskを捨てる"),
    ("multihead", "offset = len(cache)", "offset = 0", "キャッシュの続きの位置"),
    ("multihead", "cache.keep(key)", "len(cache)", "キャッシュに足さない"),
    ("multihead", "getattr(self, name)).copy()", "getattr(self, name))", "重みを写さない"),
    ("multihead", "kv_dim * self.num_heads // embed_dim", "self.num_heads", "キーとバリューのヘッドの数"),
    # positions
    ("positions", "even * cos - odd * sin", "even * cos + odd * sin", "回転の符号"),
    ("positions", "[np.sin(angles), np.cos(angles)]", "[np.cos(angles), np.sin(angles)]", "正弦と余弦の順"),
    ("positions", "-np.arange(0, dim, 2) / dim", "-np.arange(0, dim, 2) / (dim - 1)", "角度の速さ"),
    ("positions", "frequencies(head_dim, base)", "frequencies(head_dim, 10_000)", "baseを捨てる"),
    # additive
    ("additive", "np.tanh(hidden_query + hidden_key)", "(hidden_query + hidden_key)", "tanhを忘れる"),
    ("additive", "np.where(mask, scores, -np.inf)", "np.where(mask, -np.inf, scores)", "maskの極性が逆"),
    # kernel
    ("kernel", "axis=-1) / bandwidth", "axis=-1) / bandwidth**2", "bandwidthの単位"),
    ("kernel", "softmax(-0.5 *", "softmax(0.5 *", "遠いほど重くなる"),
    # figures
    ("figures", "axes.imshow(values, vmin=low, vmax=1,", "axes.imshow(values,", "色の範囲がデータで変わる"),
    (
        "figures",
        'xlabel=xlabel, ylabel=ylabel, cmap="RdBu", low=-1',
        'xlabel=ylabel, ylabel=xlabel, cmap="RdBu", low=-1',
        "軸の名前の取り違え",
    ),
    ("figures", "axes.plot(x, y,", "axes.plot(x, y[::-1],", "線を逆順に描く"),
    ("figures", 'axes.set_xscale("log", base=2)', 'axes.set_xscale("linear")', "横軸の目盛り"),
    # explorer
    ("explorer", "*= len(weights) + n not in cut", "*= n not in cut", "切るヘッドを層ごとに数える"),
    ("explorer", "h = h + (w @ given)", "h = (w @ given)", "元の表現に足さない"),
    ("explorer", "w[:, he] * (given @ read)", "w[:, he]", "足した数でなく重みを返す"),
    ("explorer", "[-layer.embed_dim :]", "[: layer.embed_dim]", "バリューでなくクエリの行列を使う"),
    # interactive
    ("interactive", "{x:z.{digits}f}", "{x:.{digits}f}", "マイナスの0を書く"),
]
