// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import { IEnsResolver } from "../src/interfaces/IEnsResolver.sol";

/// @title ENS's universal resolver for one wildcard resolver: it asks in its own name, and so changes `sender`
contract TestUniversalResolver {
    IEnsResolver private immutable _resolver;

    error OffchainLookup(address sender, string[] urls, bytes callData, bytes4 callbackFunction, bytes extraData);

    constructor(IEnsResolver resolver) {
        _resolver = resolver;
    }

    /// @notice Resolves a name as viem asks for it; the gateways of batches are not used.
    function resolveWithGateways(
        bytes calldata name,
        bytes calldata data,
        string[] calldata
    ) external view returns (bytes memory, address) {
        try _resolver.resolve(name, data) returns (bytes memory result) {
            return (result, address(_resolver));
        } catch (bytes memory reason) {
            if (bytes4(reason) != OffchainLookup.selector) _bubble(reason);
            assembly ("memory-safe") {
                // the arguments behind the selector
                let length := sub(mload(reason), 4)
                reason := add(reason, 4)
                mstore(reason, length)
            }
            (, string[] memory urls, bytes memory callData, , bytes memory extraData) = abi.decode(
                reason,
                (address, string[], bytes, bytes4, bytes)
            );
            revert OffchainLookup(address(this), urls, callData, this.resolveCallback.selector, extraData);
        }
    }

    /// @notice Has the resolver check the answer.
    function resolveCallback(
        bytes calldata response,
        bytes calldata extraData
    ) external view returns (bytes memory, address) {
        return (_resolver.resolveWithProof(response, extraData), address(_resolver));
    }

    function _bubble(bytes memory reason) private pure {
        assembly ("memory-safe") {
            revert(add(reason, 32), mload(reason))
        }
    }
}
