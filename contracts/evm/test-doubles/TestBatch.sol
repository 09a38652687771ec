// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title A wallet that makes several calls in one transaction, and keeps what it is paid back
contract TestBatch {
    struct Call {
        address to;
        uint256 value;
        bytes data;
    }

    function run(Call[] calldata calls) external payable {
        for (uint256 i = 0; i < calls.length; ++i) {
            (bool ok, bytes memory result) = calls[i].to.call{ value: calls[i].value }(calls[i].data);
            if (!ok) {
                assembly ("memory-safe") {
                    revert(add(result, 32), mload(result))
                }
            }
        }
    }

    receive() external payable {}
}
