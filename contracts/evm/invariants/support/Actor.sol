// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import { IHub } from "../../src/interfaces/IHub.sol";

/// @title Checks that hold while a call of the contract is under way
interface IDuringCall {
    function duringCall() external;
}

/// @title An account that takes part: whenever it is paid or called back, it checks and may call in again
contract Actor {
    enum Mode {
        Accept,
        Refuse,
        CallBack
    }

    IDuringCall private immutable _handler;
    Mode private _mode;
    address private _target;
    uint256 private _value;
    bytes private _data;

    constructor(IDuringCall handler) {
        _handler = handler;
    }

    /// @notice From now on money is taken or not.
    function setMode(Mode mode) external {
        _mode = mode;
    }

    /// @notice The next time that money comes, calls this, once.
    function setCallBack(address target, uint256 value, bytes calldata data) external {
        _mode = Mode.CallBack;
        _target = target;
        _value = value;
        _data = data;
    }

    receive() external payable {
        if (_mode == Mode.Refuse) revert("refused");
        calledBack();
    }

    /// @notice What a token with hooks calls before it moves anything.
    function calledBack() public {
        _handler.duringCall();
        if (_mode != Mode.CallBack) return;
        _mode = Mode.Accept;
        (bool ok, bytes memory reason) = _target.call{ value: _value }(_data);
        // Foundry records the logs of reverted calls too. Of the calls made here, this error alone comes after logs; it
        // is passed on, so that the whole call fails and the handler drops its logs.
        if (!ok && bytes4(reason) == IHub.PaymentFailed.selector) revert("a call back could not be paid");
    }
}
