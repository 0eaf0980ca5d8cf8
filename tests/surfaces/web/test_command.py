import socket

from halocline.surfaces.web.command import _bind_socket


def test_what_is_sent_does_not_wait_for_an_answer_to_what_was_sent_before():
    with _bind_socket("127.0.0.1", 0) as listening, socket.create_connection(listening.getsockname()):
        accepted, _ = listening.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
