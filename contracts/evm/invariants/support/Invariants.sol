// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import { Handler } from "./Handler.sol";

/// @title What Foundry asks a contract of invariants for
/// @dev One campaign checks all invariants of a contract after each call: Foundry would make a campaign for each function.
abstract contract Invariants {
    struct FuzzSelector {
        address addr;
        bytes4[] selectors;
    }

    Handler internal _handlerOfAll;

    /// @notice Foundry calls the handler alone.
    function targetContracts() external view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(_handlerOfAll);
    }

    /// @notice This call of the handler belongs to its accounts.
    function excludeSelectors() external view returns (FuzzSelector[] memory excluded) {
        excluded = new FuzzSelector[](1);
        excluded[0] = FuzzSelector(address(_handlerOfAll), new bytes4[](1));
        excluded[0].selectors[0] = Handler.duringCall.selector;
    }

    /// @notice The end of each run.
    function afterInvariant() external view {
        require(_handlerOfAll.succeeded() > 0, "no call went through, so nothing was checked");
    }
}
