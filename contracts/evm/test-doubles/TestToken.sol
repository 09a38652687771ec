// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import { ERC20 } from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// @title A token that anybody may mint, and that misbehaves as configured
contract TestToken is ERC20 {
    enum Mode {
        Plain,
        /// A tenth of what is sent never arrives.
        FeeFromReceiver,
        /// A tenth more than what is sent leaves the sender.
        FeeFromSender,
        /// Answers false and moves nothing.
        SayNo,
        /// Answers nothing at all, as some old tokens do; moves the requested amount.
        SayNothing,
        /// Answers true and moves nothing.
        Lie,
        Revert,
        /// Calls back before it moves anything.
        CallBack,
        /// A unit less than what is sent moves, as tokens do that count in shares.
        RoundDown,
        /// Balances are words that begin with the byte 0xEF.
        AnswerEf
    }

    Mode public mode;
    address public target;
    bytes public data;
    /// How the last call back ended.
    bool public calledBack;
    /// To whom nothing is sent.
    address public blocked;

    constructor() ERC20("Test token", "TEST") {}

    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    /// @notice What a rebase or an admin takes away.
    function burn(address from, uint256 amount) external {
        _burn(from, amount);
    }

    function balanceOf(address account) public view override returns (uint256) {
        return mode == Mode.AnswerEf ? (uint256(0xef) << 248) | 1 : super.balanceOf(account);
    }

    function setMode(Mode mode_) external {
        mode = mode_;
    }

    function setBlocked(address blocked_) external {
        blocked = blocked_;
    }

    /// @notice In mode CallBack, what to call when tokens are sent.
    function setCallBack(address target_, bytes calldata data_) external {
        mode = Mode.CallBack;
        target = target_;
        data = data_;
    }

    function transfer(address to, uint256 amount) public override returns (bool) {
        return _send(msg.sender, to, amount);
    }

    function transferFrom(address from, address to, uint256 amount) public override returns (bool) {
        _spendAllowance(from, msg.sender, amount);
        return _send(from, to, amount);
    }

    function _send(address from, address to, uint256 amount) private returns (bool) {
        require(to != blocked, "blocked");
        if (mode == Mode.Revert) revert("no transfers");
        if (mode == Mode.SayNo) return false;
        if (mode == Mode.Lie) return true;
        if (mode == Mode.CallBack) (calledBack, ) = target.call(data);
        if (mode == Mode.RoundDown) --amount;
        uint256 fee = amount / 10;
        _transfer(from, to, mode == Mode.FeeFromReceiver ? amount - fee : amount);
        if (mode == Mode.FeeFromSender) _burn(from, fee);
        if (mode == Mode.SayNothing) {
            assembly ("memory-safe") {
                return(0, 0)
            }
        }
        return true;
    }
}
