// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import { IEnsResolver } from "../src/interfaces/IEnsResolver.sol";
import { LocalReverseRegistrar } from "./LocalReverseRegistrar.sol";

/// @title ENS's universal resolver for one wildcard resolver: it asks in its own name, and so changes `sender`
contract LocalUniversalResolver {
    uint256 private constant COIN_TYPE_ETH = 60;

    IEnsResolver private immutable _resolver;

    /// @notice Where accounts of this chain name themselves.
    LocalReverseRegistrar public immutable reverseRegistrar;

    /// @notice The name that an account gave itself resolves to another address, or to none.
    error ReverseAddressMismatch(string primary, bytes primaryAddress);

    constructor(IEnsResolver resolver) {
        _resolver = resolver;
        reverseRegistrar = new LocalReverseRegistrar();
    }

    /// @notice Resolves a name as viem asks for it; the gateways of batches are not used.
    function resolveWithGateways(
        bytes calldata name,
        bytes calldata data,
        string[] calldata
    ) external view returns (bytes memory, address) {
        return (_resolve(name, data, this.resolveCallback.selector, ""), address(_resolver));
    }

    /// @notice Has the resolver check the answer.
    function resolveCallback(
        bytes calldata response,
        bytes calldata extraData
    ) external view returns (bytes memory, address) {
        (bytes memory proof, ) = abi.decode(extraData, (bytes, bytes));
        return (_resolver.resolveWithProof(response, proof), address(_resolver));
    }

    /// @notice The primary name of an account as viem asks for it (ENSIP-19): the name that it gave itself, once that
    /// resolves to it. Only `addr.reverse` is known here: other chains' coin types have no names.
    function reverseWithGateways(
        bytes calldata account,
        uint256 coinType,
        string[] calldata
    ) external view returns (string memory, address, address) {
        string memory primary = reverseRegistrar.nameForAddr(address(bytes20(account)));
        if (coinType != COIN_TYPE_ETH || bytes(primary).length == 0) {
            return ("", address(0), address(reverseRegistrar));
        }
        // the gateway goes by the name, not by its node
        bytes memory data = abi.encodeWithSignature("addr(bytes32,uint256)", bytes32(0), coinType);
        bytes memory about = abi.encode(primary, account);
        return _primary(about, _resolve(_encode(primary), data, this.reverseCallback.selector, about));
    }

    /// @notice Has the resolver check the answer to the look-up of a primary name.
    function reverseCallback(
        bytes calldata response,
        bytes calldata extraData
    ) external view returns (string memory, address, address) {
        (bytes memory proof, bytes memory about) = abi.decode(extraData, (bytes, bytes));
        return _primary(about, _resolver.resolveWithProof(response, proof));
    }

    function argumentsOf(bytes calldata reason) external pure returns (bytes memory) {
        return reason[4:];
    }

    /// @dev Where the resolver has a gateway, the client asks that (ERC-3668), and calls `callback` with the answer.
    function _resolve(
        bytes memory name,
        bytes memory data,
        bytes4 callback,
        bytes memory about
    ) private view returns (bytes memory) {
        try _resolver.resolve(name, data) returns (bytes memory result) {
            return result;
        } catch (bytes memory reason) {
            (, string[] memory urls, bytes memory callData, , bytes memory proof) = abi.decode(
                this.argumentsOf(reason),
                (address, string[], bytes, bytes4, bytes)
            );
            bytes memory extraData = abi.encode(proof, about);
            revert IEnsResolver.OffchainLookup(address(this), urls, callData, callback, extraData);
        }
    }

    /// @dev The name that an account gave itself, if it resolved to the account.
    function _primary(bytes memory about, bytes memory result) private view returns (string memory, address, address) {
        (string memory primary, bytes memory account) = abi.decode(about, (string, bytes));
        bytes memory resolved = abi.decode(result, (bytes));
        if (keccak256(resolved) != keccak256(account)) revert ReverseAddressMismatch(primary, resolved);
        return (primary, address(_resolver), address(reverseRegistrar));
    }

    /// @dev A name in the DNS encoding (RFC 1035, 3.1): each label's length takes the place of the dot before it.
    function _encode(string memory name) private pure returns (bytes memory encoded) {
        encoded = bytes.concat(bytes1(0), bytes(name), bytes1(0));
        uint256 before = 0;
        for (uint256 i = 1; i < encoded.length; ++i) {
            if (encoded[i] != "." && i != encoded.length - 1) continue;
            encoded[before] = bytes1(uint8(i - before - 1));
            before = i;
        }
    }
}
