from halocline.mcp.connection.server_log import ServerLog


def test_of_a_server_that_logs_pages_the_end_is_told(tmp_path):
    log = ServerLog(tmp_path / "server.log")
    for number in range(20):
        log.printed(f"{number} {'x' * 1_500}\n".encode())
    log.printed(b"KeyError: 'tide'\n")
    assert log.last_words.endswith("x\nKeyError: 'tide'")
    assert len(log.last_words) < 2_100
    assert len(log.file.read_bytes()) > 30_000
