// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import { OAppCore } from "@layerzerolabs/oapp-evm/contracts/oapp/OAppCore.sol";
import { MessagingFee, MessagingReceipt, OAppSender } from "@layerzerolabs/oapp-evm/contracts/oapp/OAppSender.sol";
import { Ownable } from "@openzeppelin/contracts/access/Ownable.sol";
import { Guarded } from "./Guarded.sol";
import { ISpoke } from "./interfaces/ISpoke.sol";
import { HubMessage } from "./libraries/HubMessage.sol";
import { ReceiveOptions } from "./libraries/ReceiveOptions.sol";

/// @title A spoke; see ISpoke for what it does
/// @notice The owner sets minimum, gas, peer and roles and unpauses; the pauser can stop bids, nothing else.
contract Spoke is ISpoke, OAppSender, Guarded {
    using HubMessage for bytes;
    using ReceiveOptions for bytes;

    /// @inheritdoc ISpoke
    uint32 public immutable override hubEid;

    /// @inheritdoc ISpoke
    /// @dev The first values were measured through EndpointV2, worst cases (the path's first message, the bidder's and
    /// the hub's first credit): 98,000 and 26,000 a name; 75,000 for a withdrawal to a new account. The margin pays for
    /// some 8 earlier messages that are verified but not executed, over which the endpoint counts once (2,500 each),
    /// and leaves 70,000 to a wallet that a withdrawal is paid to.
    GasNeeds public override gasNeeds;

    /// @notice Deploys a spoke without peers.
    /// @param endpoint_ LayerZero's EndpointV2 of this chain; the owner becomes the spoke's delegate there
    /// @param hubEid_ LayerZero's endpoint id of the hub's chain
    /// @param owner_ may do what Guarded, Minimum and this contract keep for the owner
    /// @param pauser_ may pause; zero for the owner alone
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
        _setGasNeeds(GasNeeds({ bidsBase: 120_000, perName: 27_000, withdrawal: 170_000 }));
    }

    /// @inheritdoc ISpoke
    function quote(
        bytes calldata message,
        bytes calldata options
    ) external view override returns (MessagingFee memory fee) {
        return _quote(hubEid, message, options, false);
    }

    /// @inheritdoc ISpoke
    function lzSend(
        bytes calldata calldata_,
        bytes calldata options
    ) external payable override returns (MessagingReceipt memory receipt) {
        (uint256 sum, uint256 gasNeeded) = _check(calldata_);
        (bool ok, uint256 gasLimit, uint256 value) = options.read();
        if (!ok) revert BadOptions(options);
        if (value != sum) revert WrongOptionValue(value, sum);
        if (gasLimit < gasNeeded) revert TooLittleGas(gasLimit, gasNeeded);

        bytes32 from = bytes32(uint256(uint160(msg.sender)));
        receipt = _lzSend(hubEid, abi.encode(from, calldata_), options, MessagingFee(msg.value, 0), msg.sender);
        emit Sent(receipt.guid, from);
    }

    /// What a call for the hub asks of its options: the value to bring and the least gas. Reverts for a call that the
    /// hub would refuse. The kind is known first: a pause stops bids alone.
    function _check(bytes calldata hubCalldata) private view returns (uint256 sum, uint256 gasNeeded) {
        HubMessage.Kind kind = hubCalldata.kindOf();
        if (kind == HubMessage.Kind.Withdrawal) {
            (bool readable, ) = hubCalldata.readWithdrawal();
            _requireKnown(readable, hubCalldata);
            return (0, gasNeeds.withdrawal);
        }
        _requireKnown(kind != HubMessage.Kind.Unknown, hubCalldata);
        _requireNotPaused();
        bool ok;
        uint256[] calldata amounts;
        bytes32[] calldata names;
        (ok, amounts, names, , sum) = hubCalldata.readBids(kind);
        _requireKnown(ok, hubCalldata);
        uint256 least = minimum();
        for (uint256 i = 0; i < names.length; ++i) _requireSound(amounts[i], names[i], least);
        gasNeeded = gasNeeds.bidsBase + gasNeeds.perName * names.length;
    }

    function _requireKnown(bool isKnown, bytes calldata hubCalldata) private pure {
        if (!isKnown) revert UnknownCall(hubCalldata.length < 4 ? bytes4(0) : bytes4(hubCalldata[0:4]));
    }

    // ---- settings

    /// @inheritdoc ISpoke
    function setGasNeeds(GasNeeds calldata needs) external override onlyOwner {
        _setGasNeeds(needs);
    }

    function _setGasNeeds(GasNeeds memory needs) private {
        gasNeeds = needs;
        emit GasNeedsSet(needs.bidsBase, needs.perName, needs.withdrawal);
    }

    // ---- ownership, as Guarded has it

    /// @inheritdoc Guarded
    function renounceOwnership() public view override(Ownable, Guarded) {
        super.renounceOwnership();
    }

    /// @inheritdoc Guarded
    function transferOwnership(address newOwner) public override(Ownable, Guarded) {
        super.transferOwnership(newOwner);
    }

    function _transferOwnership(address newOwner) internal override(Ownable, Guarded) {
        super._transferOwnership(newOwner);
    }
}
