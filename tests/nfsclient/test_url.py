# SPDX-License-Identifier: MIT
"""NFS URLs: what they mean, their round trip, and the errors of wrong ones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nfsclient.errors import UrlError
from nfsclient.url import NfsUrl

HOSTS = st.one_of(
    st.ip_addresses().map(str),
    st.from_regex(r"[a-z0-9.-]{1,20}", fullmatch=True),
    st.text(
        st.characters(exclude_characters="/?#@:[]\\ ", min_codepoint=0x21, exclude_categories=["Cs", "Cc"])
    ),
).filter(lambda host: host and not any(c in host for c in "\x7f"))
PATHS = st.lists(st.binary(min_size=1).filter(lambda name: b"/" not in name and b"\0" not in name)).map(
    lambda names: b"/" + b"/".join(names)
)
PORTS = st.none() | st.integers(1, 0xFFFF)
IDS = st.none() | st.integers(0, 0xFFFFFFFF)


@st.composite
def urls(draw: st.DrawFn) -> NfsUrl:
    port = draw(PORTS)
    version, minor = draw(st.sampled_from([(2, None), (3, None), (4, None), (4, 0), (4, 1), (4, 2)]))
    return NfsUrl(
        host=draw(HOSTS),
        path=draw(PATHS),
        port=port,
        version=version,
        minor=minor,
        proto=draw(st.sampled_from(["tcp", "udp"])),
        nfsport=draw(st.sampled_from([None, port])) if port else draw(PORTS),
        mountport=draw(PORTS),
        rpcbindport=draw(PORTS),
        uid=draw(IDS),
        gid=draw(IDS),
        secure=draw(st.booleans()),
        rsize=draw(PORTS),
        wsize=draw(PORTS),
        without_effect=draw(st.sampled_from([(), (("debug", "3"), ("if", "a&b=c"))])),
    )


@given(urls())
def test_text_and_back_gives_an_equal_url(url: NfsUrl) -> None:
    assert NfsUrl.parse(str(url)) == url


@given(st.text() | st.text().map(lambda text: "nfs://" + text))
def test_any_text_parses_or_raises_the_typed_error(text: str) -> None:
    try:
        url = NfsUrl.parse(text)
    except UrlError as error:
        message = str(error)
    else:
        message = "expected, saw"
        assert NfsUrl.parse(str(url)) == url
    assert "expected" in message
    assert "saw" in message


@pytest.mark.parametrize("text", ["nfs://h/\ud800", "nfs://h\udfff/", "nfs://h/?debug=\ud800", "\ud800"])
def test_half_a_character_is_a_mistake_of_the_user(text: str) -> None:
    with pytest.raises(UrlError, match="expected text that can be written as UTF-8, saw") as caught:
        NfsUrl.parse(text)
    str(caught.value).encode()
    assert NfsUrl.parse("nfs://h/\udcff").path == b"/\xff"


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("nfs://h", b"/"),
        ("nfs://h/", b"/"),
        ("nfs://h//", b"/"),
        ("nfs://h//name", b"/name"),
        ("nfs://h/export/a/", b"/export/a"),
        ("nfs://h/a%20b%2fc", b"/a b/c"),
        ("nfs://h/%ff%E4", b"/\xff\xe4"),
        ("nfs://h/\u00fc", b"/\xc3\xbc"),
        ("nfs://h/a?version=3", b"/a"),
    ],
)
def test_the_path_is_absolute_and_never_empty(text: str, path: bytes) -> None:
    assert NfsUrl.parse(text).path == path


def test_components_are_the_names_of_the_path() -> None:
    assert NfsUrl.parse("nfs://h/a/b%20c").components == (b"a", b"b c")
    assert NfsUrl.parse("nfs://h").components == ()


@pytest.mark.parametrize(
    ("text", "host", "nfs_port"),
    [
        ("nfs://h/x", "h", None),
        ("nfs://h:/x", "h", None),
        ("nfs://h:20049/x", "h", 20049),
        ("nfs://h/x?nfsport=20049", "h", 20049),
        ("nfs://h:7/x?nfsport=7", "h", 7),
        ("NFS://192.0.2.1:1", "192.0.2.1", 1),
        ("nfs://[::1]/x", "::1", None),
        ("nfs://[2001:db8::1]:2049/x", "2001:db8::1", 2049),
        ("nfs://[fe80::1%25lo]/x", "fe80::1%lo", None),
    ],
)
def test_host_and_port_of_nfs(text: str, host: str, nfs_port: int | None) -> None:
    url = NfsUrl.parse(text)
    assert (url.host, url.nfs_port) == (host, nfs_port)


def test_parameters_are_typed() -> None:
    url = NfsUrl.parse(
        "nfs://h/e?version=4.1&proto=udp&nfsport=1&mountport=2&uid=3&gid=4294967295&secure=1&rsize=512&timeo=7"
    )
    assert (url.version, url.minor, url.proto, url.secure) == (4, 1, "udp", True)
    assert (url.nfsport, url.mountport, url.uid, url.gid, url.rsize) == (1, 2, 3, 0xFFFFFFFF, 512)
    assert url.without_effect == (("timeo", "7"),)


def test_without_parameters_it_is_version_3_over_tcp_as_oneself() -> None:
    url = NfsUrl.parse("nfs://h/e")
    assert (url.version, url.proto, url.uid, url.gid, url.secure) == (3, "tcp", None, None, False)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "begin it with nfs://"),
        ("/export", "begin it with nfs://"),
        ("http://h/e", "begin it with nfs://"),
        ("nfs:///e", "host name"),
        ("nfs://a b/e", "host name"),
        ("nfs://a%2fb/e", "host name"),
        ("nfs://u@h/e", "uid="),
        ("nfs://::1/e", "brackets"),
        ("nfs://[::1/e", "IPv6"),
        ("nfs://[h]/e", "IPv6"),
        ("nfs://[::1]2049/e", "IPv6"),
        ("nfs://h:0/e", "1 to 65535"),
        ("nfs://h:65536/e", "1 to 65535"),
        ("nfs://h:x/e", "1 to 65535"),
        ("nfs://h/e#x", "%23"),
        ("nfs://h/%00", "NUL"),
        ("nfs://h:1/e?nfsport=2", "leave one out"),
        ("nfs://h/e?uid=-1", "0 to 4294967295"),
        ("nfs://h/e?uid=" + "1" * 5000, "0 to 4294967295"),
        ("nfs://h/e?uid=\u0663", "0 to 4294967295"),
        ("nfs://h/e?version=5", "2, 3, 4"),
        ("nfs://h/e?proto=rdma", "tcp, udp"),
        ("nfs://h/e?secure=yes", "0, 1"),
        ("nfs://h/e?sec=krb5", "sys"),
        ("nfs://h/e?uid", "name=value"),
        ("nfs://h/e?uid=1&uid=1", "once"),
        ("nfs://h/e?user=1", "one of the parameters"),
    ],
    ids=range(27),
)
def test_a_wrong_url_says_what_was_expected(text: str, complaint: str) -> None:
    with pytest.raises(UrlError, match=complaint):
        NfsUrl.parse(text)


def test_the_version_of_a_url_that_names_none() -> None:
    assert NfsUrl.parse("nfs://h/a").version == 3
    assert NfsUrl.parse("nfs://h/a", version=4) == NfsUrl.parse("nfs://h/a?version=4")
    assert NfsUrl.parse("nfs://h/a?version=2", version=4).version == 2
