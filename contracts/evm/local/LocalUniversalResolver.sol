// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import { IEnsResolver } from "../src/interfaces/IEnsResolver.sol";

/// @title ENS's universal resolver for one wildcard resolver: it asks in its own name, and so changes `sender`
contract LocalUniversalResolver {
    IEnsResolver private immutable _resolver;

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
            (, string[] memory urls, bytes memory callData, , bytes memory extraData) = abi.decode(
                this.argumentsOf(reason),
                (address, string[], bytes, bytes4, bytes)
            );
            bytes4 callback = this.resolveCallback.selector;
            revert IEnsResolver.OffchainLookup(address(this), urls, callData, callback, extraData);
        }
    }

    /// @notice Has the resolver check the answer.
    function resolveCallback(
        bytes calldata response,
        bytes calldata extraData
    ) external view returns (bytes memory, address) {
        return (_resolver.resolveWithProof(response, extraData), address(_resolver));
    }

    function argumentsOf(bytes calldata reason) external pure returns (bytes memory) {
        return reason[4:];
    }
}
