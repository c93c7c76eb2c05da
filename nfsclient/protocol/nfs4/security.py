# SPDX-License-Identifier: MIT
"""What RPCSEC_GSS and state protection bring into NFSv4 (RFC 5661 sections 2.6, 2.10.8, 2.10.9 and 18.35)."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs4.types import Bitmap4, Qop4, SecOid4
from nfsclient.xdr import Array, Case, Identity, Opaque, String, Struct, Union, XdrEnum, u32

RPCSEC_GSS = 6
"""The flavor of Secinfo4 that says more (RFC 2203)."""
AUTH_NONE = 0
AUTH_SYS = 1
GsshandleT = t.Annotated[bytes, Opaque()]
"""gsshandle4_t: the handle of a GSS context."""


class RpcGssSvcT(XdrEnum):
    """rpc_gss_svc_t: what RPCSEC_GSS does to a call (RFC 2203 section 5.2.2)."""

    RPC_GSS_SVC_NONE = 1
    RPC_GSS_SVC_INTEGRITY = 2
    RPC_GSS_SVC_PRIVACY = 3


class StateProtectHow4(XdrEnum):
    """state_protect_how4: who may act on a client's state (section 18.35)."""

    SP4_NONE = 0
    SP4_MACH_CRED = 1
    SP4_SSV = 2


class SsvSubkey4(XdrEnum):
    """ssv_subkey4: what a key that is derived from the SSV is for (section 2.10.9)."""

    SSV4_SUBKEY_MIC_I2T = 1
    SSV4_SUBKEY_MIC_T2I = 2
    SSV4_SUBKEY_SEAL_I2T = 3
    SSV4_SUBKEY_SEAL_T2I = 4


class RpcsecGssInfo(Struct):
    """rpcsec_gss_info: a mechanism with its service (section 18.29)."""

    oid: SecOid4
    qop: Qop4
    service: RpcGssSvcT


class Secinfo4(Union):
    """secinfo4: a flavor of security that a server accepts (section 18.29)."""

    flavor: u32
    flavor_info: t.Annotated[RpcsecGssInfo | None, Case(RPCSEC_GSS)] = None
    __void_default__ = True


class AuthsysParms(Struct):
    """authsys_parms: the body of an AUTH_SYS credential (RFC 5531 appendix A)."""

    stamp: u32
    machinename: t.Annotated[bytes, String(255), Identity("host")]
    uid: u32
    gid: u32
    gids: t.Annotated[list[u32], Array(16)]


class GssCbHandles4(Struct):
    """gss_cb_handles4: GSS contexts for callbacks (section 18.33)."""

    gcbp_service: RpcGssSvcT
    gcbp_handle_from_server: GsshandleT
    gcbp_handle_from_client: GsshandleT


class CallbackSecParms4(Union):
    """callback_sec_parms4: a credential for callbacks (section 18.33)."""

    cb_secflavor: u32
    cbsp_sys_cred: t.Annotated[AuthsysParms | None, Case(AUTH_SYS)] = None
    cbsp_gss_handles: t.Annotated[GssCbHandles4 | None, Case(RPCSEC_GSS)] = None
    __void__ = (AUTH_NONE,)


class StateProtectOps4(Struct):
    """state_protect_ops4: operations that need, or that may use, the protecting credential (section 18.35)."""

    spo_must_enforce: Bitmap4
    spo_must_allow: Bitmap4


class SsvSpParms4(Struct):
    """ssv_sp_parms4: what a client proposes for an SSV (section 18.35)."""

    ssp_ops: StateProtectOps4
    ssp_hash_algs: t.Annotated[list[SecOid4], Array()]
    ssp_encr_algs: t.Annotated[list[SecOid4], Array()]
    ssp_window: u32
    ssp_num_gss_handles: u32


class StateProtect4A(Union):
    """state_protect4_a: the protection that a client asks for (section 18.35)."""

    spa_how: StateProtectHow4
    spa_mach_ops: t.Annotated[StateProtectOps4 | None, Case(StateProtectHow4.SP4_MACH_CRED)] = None
    spa_ssv_parms: t.Annotated[SsvSpParms4 | None, Case(StateProtectHow4.SP4_SSV)] = None
    __void__ = (StateProtectHow4.SP4_NONE,)


class SsvProtInfo4(Struct):
    """ssv_prot_info4: what the server chose for an SSV (section 18.35)."""

    spi_ops: StateProtectOps4
    spi_hash_alg: u32
    spi_encr_alg: u32
    spi_ssv_len: u32
    spi_window: u32
    spi_handles: t.Annotated[list[GsshandleT], Array()]


class StateProtect4R(Union):
    """state_protect4_r: the protection that the server grants (section 18.35)."""

    spr_how: StateProtectHow4
    spr_mach_ops: t.Annotated[StateProtectOps4 | None, Case(StateProtectHow4.SP4_MACH_CRED)] = None
    spr_ssv_info: t.Annotated[SsvProtInfo4 | None, Case(StateProtectHow4.SP4_SSV)] = None
    __void__ = (StateProtectHow4.SP4_NONE,)


class SsvMicPlainTkn4(Struct):
    """ssv_mic_plain_tkn4: what a MIC is computed over (section 2.10.9)."""

    smpt_ssv_seq: u32
    smpt_orig_plain: t.Annotated[bytes, Opaque()]


class SsvMicTkn4(Struct):
    """ssv_mic_tkn4: a MIC of the SSV mechanism (section 2.10.9)."""

    smt_ssv_seq: u32
    smt_hmac: t.Annotated[bytes, Opaque()]


class SsvSealPlainTkn4(Struct):
    """ssv_seal_plain_tkn4: what is encrypted (section 2.10.9)."""

    sspt_confounder: t.Annotated[bytes, Opaque()]
    sspt_ssv_seq: u32
    sspt_orig_plain: t.Annotated[bytes, Opaque()]
    sspt_pad: t.Annotated[bytes, Opaque()]


class SsvSealCipherTkn4(Struct):
    """ssv_seal_cipher_tkn4: sealed data of the SSV mechanism (section 2.10.9)."""

    ssct_ssv_seq: u32
    ssct_iv: t.Annotated[bytes, Opaque()]
    ssct_encr_data: t.Annotated[bytes, Opaque()]
    ssct_hmac: t.Annotated[bytes, Opaque()]
