// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import { OAppCore } from "@layerzerolabs/oapp-evm/contracts/oapp/OAppCore.sol";
import { MessagingFee, MessagingReceipt, OAppSender } from "@layerzerolabs/oapp-evm/contracts/oapp/OAppSender.sol";
import { Ownable } from "@openzeppelin/contracts/access/Ownable.sol";
import { Guarded } from "./Guarded.sol";
import { HubMessage } from "./libraries/HubMessage.sol";
import { Names } from "./libraries/Names.sol";
import { ReceiveOptions } from "./libraries/ReceiveOptions.sol";

/// @title A spoke: sends bids, and withdrawals of refunds, to the hub on another chain
/// @notice A message to the hub is `abi.encode(bytes32 sender, bytes hubCalldata)`. Everything is checked here, before
/// money leaves: on the hub a fault can only be credited, here nothing is lost. The spoke holds no money.
contract Spoke is OAppSender, Guarded {
    using HubMessage for bytes;
    using ReceiveOptions for bytes;

    /// Gas that a message has to bring for the hub's endpoint and the hub together. Measured through EndpointV2, worst
    /// cases: 100,000 and 30,000 a name (won and lost ones, the bidder's first credit); 167,000 for a withdrawal, of
    /// which the hub holds a part back for the receiver. The defaults' margin also pays for some 25 earlier messages
    /// that are verified but not executed yet, over which the endpoint counts (2,500 each).
    struct GasNeeds {
        uint64 bidsBase;
        uint64 perName;
        uint64 withdrawal;
    }

    /// A message left for the hub; the endpoint's PacketSent stands in the same transaction.
    event Sent(bytes32 guid, bytes32 from);
    event MinimumSet(uint256 minimum);
    event GasNeedsSet(uint64 bidsBase, uint64 perName, uint64 withdrawal);

    /// Neither form of `placeBids`, rightly encoded with 1 to 100 names, nor `withdrawRefund(address)`.
    error UnknownCall();
    error MalformedName(bytes32 name);
    error BelowMinimum(uint256 amount, uint256 minimum);

    /// Not one type-3 lzReceive option alone.
    error BadOptions();

    /// The value that the option asks for is not the sum of the amounts (zero for a withdrawal).
    error WrongOptionValue(uint256 value, uint256 sum);
    error TooLittleGas(uint256 gasLimit, uint256 needed);
    error ZeroAddress();

    uint32 public immutable hubEid;

    /// @notice The least that a bid may be, wei on the hub; the hub has its own and the last word.
    uint256 public minimum;
    GasNeeds public gasNeeds;

    /// @param endpoint_ LayerZero's EndpointV2 of this chain; the owner becomes the spoke's delegate there
    /// @param hubEid_ LayerZero's endpoint id of the hub's chain
    /// @param minimum_ least bid, wei on the hub
    constructor(
        address endpoint_,
        uint32 hubEid_,
        address owner_,
        address pauser_,
        uint256 minimum_
    ) OAppCore(endpoint_, owner_) Ownable(owner_) Guarded(pauser_) {
        hubEid = hubEid_;
        _setMinimum(minimum_);
        _setGasNeeds(GasNeeds({ bidsBase: 160_000, perName: 35_000, withdrawal: 230_000 }));
    }

    /// @notice What the bridge takes for a message, in this chain's gas token. Checks neither message nor options:
    /// the quote of a message without its value is asked for too, to tell fee from value.
    /// @param message abi.encode(bytes32 sender, bytes hubCalldata)
    function quote(bytes calldata message, bytes calldata options) external view returns (MessagingFee memory) {
        return _quote(hubEid, message, options, false);
    }

    /// @notice Sends hub calldata in the caller's name; msg.value is at least the quoted fee, and the endpoint pays
    ///   back what it does not need.
    /// @param calldata_ `placeBids` in either form, or `withdrawRefund(address)`
    /// @param options one lzReceive option: its value the sum of the amounts (zero for a withdrawal), its gas at least
    /// what `gasNeeds` tells
    function lzSend(
        bytes calldata calldata_,
        bytes calldata options
    ) external payable whenNotPaused returns (MessagingReceipt memory receipt) {
        (uint256 sum, uint256 gasNeeded) = _check(calldata_);
        (bool ok, uint256 gasLimit, uint256 value) = options.read();
        if (!ok) revert BadOptions();
        if (value != sum) revert WrongOptionValue(value, sum);
        if (gasLimit < gasNeeded) revert TooLittleGas(gasLimit, gasNeeded);

        bytes32 from = bytes32(uint256(uint160(msg.sender)));
        receipt = _lzSend(hubEid, abi.encode(from, calldata_), options, MessagingFee(msg.value, 0), msg.sender);
        emit Sent(receipt.guid, from);
    }

    /// What a call for the hub asks of its options: the value to bring and the least gas. Reverts for a call that the
    /// hub would refuse.
    function _check(bytes calldata hubCalldata) private view returns (uint256 sum, uint256 gasNeeded) {
        HubMessage.Kind kind = hubCalldata.kindOf();
        if (kind == HubMessage.Kind.Unknown) revert UnknownCall();
        if (kind == HubMessage.Kind.Withdrawal) {
            (bool readable, address to) = hubCalldata.readWithdrawal();
            if (!readable) revert UnknownCall();
            if (to == address(0)) revert ZeroAddress();
            return (0, gasNeeds.withdrawal);
        }

        bool ok;
        uint256[] calldata amounts;
        bytes32[] calldata names;
        (ok, amounts, names, , sum) = hubCalldata.readBids(kind);
        if (!ok) revert UnknownCall();
        for (uint256 i = 0; i < names.length; ++i) {
            if (!Names.isWellFormed(names[i])) revert MalformedName(names[i]);
            if (amounts[i] < minimum) revert BelowMinimum(amounts[i], minimum);
        }
        gasNeeded = gasNeeds.bidsBase + gasNeeds.perName * names.length;
    }

    // ---- settings

    function setMinimum(uint256 minimum_) external onlyOwner {
        _setMinimum(minimum_);
    }

    function setGasNeeds(GasNeeds calldata needs) external onlyOwner {
        _setGasNeeds(needs);
    }

    function _setMinimum(uint256 minimum_) private {
        minimum = minimum_;
        emit MinimumSet(minimum_);
    }

    function _setGasNeeds(GasNeeds memory needs) private {
        gasNeeds = needs;
        emit GasNeedsSet(needs.bidsBase, needs.perName, needs.withdrawal);
    }

    // ---- ownership, as Guarded has it

    function renounceOwnership() public view override(Ownable, Guarded) {
        super.renounceOwnership();
    }

    function transferOwnership(address newOwner) public override(Ownable, Guarded) {
        super.transferOwnership(newOwner);
    }

    function _transferOwnership(address newOwner) internal override(Ownable, Guarded) {
        super._transferOwnership(newOwner);
    }
}
