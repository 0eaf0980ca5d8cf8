import pytest
from tests.tables import for_each

from halocline.policy.destinations import Net, net_of_address, parse_destination, worst_net
from halocline.protocol.errors import ToolFailure


@for_each(
    "address, net",
    [
        ("93.184.215.14", Net.PUBLIC),
        ("2606:2800:21f:cb07::1", Net.PUBLIC),
        ("127.0.0.1", Net.PRIVATE),
        ("0.0.0.0", Net.PRIVATE),
        ("10.1.2.3", Net.PRIVATE),
        ("172.31.0.1", Net.PRIVATE),
        ("192.168.1.1", Net.PRIVATE),
        ("100.64.0.1", Net.PRIVATE),
        ("224.0.0.251", Net.PRIVATE),
        ("::1", Net.PRIVATE),
        ("::", Net.PRIVATE),
        ("fd12::1", Net.PRIVATE),
        ("::ffff:127.0.0.1", Net.PRIVATE),
        ("2002:7f00:1::", Net.PRIVATE),
        ("64:ff9b::10.0.0.1", Net.PRIVATE),
        ("169.254.169.254", Net.LINK_LOCAL),
        ("fe80::1%eth0", Net.LINK_LOCAL),
        ("fd00:ec2::254", Net.LINK_LOCAL),
        ("100.100.100.200", Net.LINK_LOCAL),
        ("64:ff9b::169.254.169.254", Net.LINK_LOCAL),
        ("example.com", None),
    ],
)
def test_an_address_is_in_one_kind_of_network(address, net):
    assert net_of_address(address) is net


@pytest.mark.parametrize(
    "name", ["localhost", "app.localhost", "printer.local", "metadata.google.internal", "intranet"]
)
def test_names_that_no_public_name_server_knows_are_private(name):
    assert parse_destination(f"http://{name}/").net is Net.PRIVATE


def test_the_least_public_of_several_addresses_counts():
    assert worst_net(["93.184.215.14", "10.0.0.1"]) is Net.PRIVATE
    assert worst_net(["10.0.0.1", "169.254.1.1"]) is Net.LINK_LOCAL
    assert worst_net(["93.184.215.14"]) is Net.PUBLIC
    assert worst_net([]) is Net.PUBLIC


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ("https://Example.com", "https://example.com/"),
        ("https://example.com:443/a#part", "https://example.com/a"),
        ("http://example.com:8080/ä b?q=ü&x=1%20", "http://example.com:8080/%C3%A4%20b?q=%C3%BC&x=1%20"),
        ("https://bücher.example/", "https://xn--bcher-kva.example/"),
        ("http://[::1]:3000/x", "http://[::1]:3000/x"),
    ],
)
def test_a_url_is_put_in_the_form_in_which_it_is_sent(written, sent):
    assert parse_destination(written).url == sent


@pytest.mark.parametrize(
    "url",
    [
        "",
        "example.com",
        "file:///etc/passwd",
        "ftp://x.example/",
        "http://",
        "http://u:p@x.example/",
        "http://x:99999/",
    ],
)
def test_what_is_no_plain_web_address_is_refused(url):
    with pytest.raises(ToolFailure):
        parse_destination(url)
