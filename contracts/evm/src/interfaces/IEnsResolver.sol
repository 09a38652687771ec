// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title Resolves the names below an ENS name by answers that a gateway signs
/// @notice A wildcard resolver (ENSIP-10) that sends clients to the gateway (ERC-3668) and checks what they bring: 65
///   bytes of signature (EIP-712, `Answer(bytes32 request,bytes32 result,uint64 expires)`), then `abi.encode(chainId,
///   resolver, request, expires, result)`; anything else reverts without a reason. Two signers may count at once, so
///   that a key is replaced without a pause: the new one takes the free place, and then the old one leaves its own.
interface IEnsResolver {
    /// @notice One of the two places of signers changed; what an account signed that left it counts no more.
    /// @param place 0 or 1
    /// @param signer who has it now; zero for nobody
    event SignerSet(uint256 indexed place, address indexed signer);

    /// @notice The gateway's URLs changed.
    /// @param urls the new ones
    event UrlsSet(string[] urls);

    /// @notice Where the answer is to be had (ERC-3668).
    /// @param sender this contract
    /// @param urls of the gateway
    /// @param callData the whole call
    /// @param callbackFunction `resolveWithProof`
    /// @param extraData keccak256 of the whole call
    error OffchainLookup(address sender, string[] urls, bytes callData, bytes4 callbackFunction, bytes extraData);

    /// @notice The answer is of another chain.
    /// @param chainId that it names
    error OtherChain(uint256 chainId);

    /// @notice The answer is for another resolver.
    /// @param resolver that it names
    error OtherResolver(address resolver);

    /// @notice The answer is to another call.
    /// @param request keccak256 of that call
    error OtherRequest(bytes32 request);

    /// @notice The answer is out of date.
    /// @param expires Unix time, seconds, of its last second
    error AnswerExpired(uint64 expires);

    /// @notice The answer's last second is more than an hour away: a signer may not sign answers for later.
    /// @param expires Unix time, seconds, of its last second
    error ExpiresTooLate(uint64 expires);

    /// @notice No signer signed the answer.
    error BadSignature();

    /// @notice The role of the owner is not given up: a lost key could not be replaced.
    error OwnerRequired();

    /// @notice Always reverts with OffchainLookup.
    /// @param name DNS-encoded
    /// @param data the call of a resolver's profile, such as `addr(bytes32)`
    /// @return what that call returns, encoded
    function resolve(bytes calldata name, bytes calldata data) external view returns (bytes memory);

    /// @notice Checks the gateway's answer.
    /// @param response the answer
    /// @param extraData as OffchainLookup had it
    /// @return what the call of the profile returns, encoded
    function resolveWithProof(bytes calldata response, bytes calldata extraData) external view returns (bytes memory);
}
