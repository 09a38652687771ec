// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import { Ownable, Ownable2Step } from "@openzeppelin/contracts/access/Ownable2Step.sol";
import { IERC165 } from "@openzeppelin/contracts/utils/introspection/IERC165.sol";
import { IEnsResolver } from "./interfaces/IEnsResolver.sol";
import { Signatures } from "./libraries/Signatures.sol";

/// @title The resolver of an ENS name whose names below are answered by a gateway
/// @notice See IEnsResolver. Answers name chain, resolver and request in the clear too: each mistake has its error.
contract EnsResolver is IEnsResolver, IERC165, Ownable2Step {
    bytes32 private constant DOMAIN_NAME = keccak256("EnsResolver");
    bytes32 private constant ANSWER_TYPEHASH = keccak256("Answer(bytes32 request,bytes32 result,uint64 expires)");
    uint256 private constant SIGNATURE_BYTES = 65;

    /// @notice The longest time for which an answer counts; the gateway's count for five minutes. Somebody who could use
    /// a signer's key for a moment has no answers for later, even if nobody notices and replaces the key.
    uint64 public constant MAX_VALID_SECONDS = 1 hours;

    /// @notice Whose answers count, by their place; zero for nobody's.
    address[2] public signers;

    /// @notice Where the answers are to be had, in the order in which clients try them.
    string[] public urls;

    /// @notice A resolver, which the ENS name's owner then names in ENS's registry.
    /// @param owner_ who sets signers and URLs
    /// @param signer the gateway's key
    /// @param urls_ of the gateway
    constructor(address owner_, address signer, string[] memory urls_) Ownable(owner_) {
        _setSigner(0, signer);
        _setUrls(urls_);
    }

    /// @inheritdoc IEnsResolver
    function resolve(bytes calldata, bytes calldata) external view override returns (bytes memory) {
        bytes memory extraData = abi.encode(keccak256(msg.data));
        revert OffchainLookup(address(this), urls, msg.data, this.resolveWithProof.selector, extraData);
    }

    /// @inheritdoc IEnsResolver
    function resolveWithProof(
        bytes calldata response,
        bytes calldata extraData
    ) external view override returns (bytes memory) {
        (uint256 chainId, address resolver, bytes32 request, uint64 expires, bytes memory result) = abi.decode(
            response[SIGNATURE_BYTES:],
            (uint256, address, bytes32, uint64, bytes)
        );
        if (chainId != block.chainid) revert OtherChain(chainId);
        if (resolver != address(this)) revert OtherResolver(resolver);
        if (request != abi.decode(extraData, (bytes32))) revert OtherRequest(request);
        if (block.timestamp > expires) revert AnswerExpired(expires);
        if (expires > block.timestamp + MAX_VALID_SECONDS) revert ExpiresTooLate(expires);
        bytes32 answer = keccak256(abi.encode(ANSWER_TYPEHASH, request, keccak256(result), expires));
        bytes32 digest = Signatures.digestOf(DOMAIN_NAME, answer);
        for (uint256 i = 0; i < signers.length; ++i) {
            if (Signatures.isSignedBy(signers[i], digest, response[:SIGNATURE_BYTES])) return result;
        }
        revert BadSignature();
    }

    /// @notice Supports ENSIP-10 (0x9061b923) and ERC-165 itself.
    /// @param id of an interface
    /// @return whether this contract has it
    function supportsInterface(bytes4 id) external pure override returns (bool) {
        return id == IEnsResolver.resolve.selector || id == type(IERC165).interfaceId;
    }

    /// @notice Sets who signs; the owner's. With nobody in either place nothing resolves.
    /// @param place 0 or 1
    /// @param signer an account with a key; zero for nobody
    function setSigner(uint256 place, address signer) external onlyOwner {
        _setSigner(place, signer);
    }

    /// @notice Sets the gateway's URLs; the owner's.
    /// @param urls_ with `{sender}` and `{data}`, or without `{data}` for a POST
    function setUrls(string[] calldata urls_) external onlyOwner {
        _setUrls(urls_);
    }

    /// @notice Refused: without an owner a lost key could not be replaced.
    function renounceOwnership() public view override onlyOwner {
        revert OwnerRequired();
    }

    function _setSigner(uint256 place, address signer) private {
        signers[place] = signer;
        emit SignerSet(place, signer);
    }

    function _setUrls(string[] memory urls_) private {
        urls = urls_;
        emit UrlsSet(urls_);
    }
}
