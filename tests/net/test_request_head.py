import pytest

from halocline.net.request_head import request_head


def test_a_head_has_its_line_its_fields_and_an_empty_line() -> None:
    head = request_head("POST", "/v1/x?y=%20", {"host": "a:1", "X-Key": "Bearer a b", "empty": ""})
    assert head == b"POST /v1/x?y=%20 HTTP/1.1\r\nhost: a:1\r\nX-Key: Bearer a b\r\nempty: \r\n\r\n"


@pytest.mark.parametrize(
    "value", ["sk\r\nb: c", "sk\nb", "sk\rb", "sk\x00b", "sk\x7f", "skü", "sk\u2028b", " sk", "sk "]
)
def test_a_value_that_cannot_be_sent_is_refused_and_not_shown(value: str) -> None:
    with pytest.raises(ValueError, match="cannot be sent") as caught:
        request_head("GET", "/", {"x-api-key": value})
    assert "sk" not in str(caught.value)


@pytest.mark.parametrize("name", ["", "a b", "a:", "a\r\nb", "ä", "a\x00"])
def test_a_name_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="cannot be sent"):
        request_head("GET", "/", {name: "value"})


@pytest.mark.parametrize("target", ["/a b", "/a\r\nx: y", "/ä", "/a\x00"])
def test_an_address_that_cannot_be_sent_is_refused(target: str) -> None:
    with pytest.raises(ValueError, match="cannot be sent"):
        request_head("GET", target, {})
