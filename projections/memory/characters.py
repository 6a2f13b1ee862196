"""Traditional Chinese characters as the simplified ones, of what preferences are known to be about.

No converter: only the characters in the names and values of what the table knows, each of which
has one simplified form. So 縮進 and 缩进 are one subject, and 雙引號 is read like 双引号.
"""

from __future__ import annotations

_PAIRS = """
    縮缩 進进 號号 語语 測测 試试 編编 輯辑 檢检 註注 釋释 檔档 類类 標标 題题 數数
    據据 庫库 單单 長长 詳详 細细 簡简 潔洁 氣气 認认 變变 時时 區区 職职 業业 終终
    統统 軟软 務务 項项 環环 風风 換换 寬宽 輸输 圖图 樣样 規规 範范 顏颜 雙双 兩两
    個个 約约 動动 體体 鍵键 態态 線线 總总 駝驼 暫暂 間间 顯显 隨随 廢废 話话 練练
    達达 級级 連连 結结 構构 說说 請请 後后 從从 現现 點点 碼码 劃划 幹干 併并 韓韩
    蘭兰 漢汉 歡欢 採采 習习 慣惯 傾倾 愛爱 討讨 厭厌 寫写 別别 沒没 應应 對对 當当
    開开 發发 員员 專专
"""
_READ_AS = str.maketrans({pair[0]: pair[1] for pair in _PAIRS.split()})


def simplified(text: str) -> str:
    """The text with those characters in their simplified form, and as long as before."""
    return text if text.isascii() else text.translate(_READ_AS)
