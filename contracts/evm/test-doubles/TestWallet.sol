// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title A smart wallet that makes configured calls, and receives money as configured
contract TestWallet {
    enum Mode {
        Accept,
        Refuse,
        BurnGas,
        ReturnBomb,
        CallBack,
        Greedy
    }

    Mode public mode;
    address public target;
    bytes public data;
    /// How the last call made on receipt of money ended.
    bool public calledBack;

    function setMode(Mode mode_) external {
        mode = mode_;
    }

    /// @notice In mode CallBack, what to call when money comes; in mode Greedy the same, every time.
    function setCallBack(address target_, bytes calldata data_) external {
        mode = Mode.CallBack;
        target = target_;
        data = data_;
    }

    function execute(address to, bytes calldata callData) external payable returns (bytes memory) {
        (bool ok, bytes memory result) = to.call{ value: msg.value }(callData);
        if (!ok) {
            assembly ("memory-safe") {
                revert(add(result, 32), mload(result))
            }
        }
        return result;
    }

    receive() external payable {
        if (mode == Mode.Refuse) revert("refused");
        if (mode == Mode.BurnGas) {
            while (true) {}
        }
        if (mode == Mode.ReturnBomb) {
            assembly ("memory-safe") {
                revert(0, 30000)
            }
        }
        if (mode != Mode.CallBack && mode != Mode.Greedy) return;
        if (mode == Mode.CallBack) mode = Mode.Accept;
        (calledBack, ) = target.call(data);
    }
}
