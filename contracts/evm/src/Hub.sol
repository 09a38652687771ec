// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import { OAppCore } from "@layerzerolabs/oapp-evm/contracts/oapp/OAppCore.sol";
import { OAppReceiver, Origin } from "@layerzerolabs/oapp-evm/contracts/oapp/OAppReceiver.sol";
import { Ownable } from "@openzeppelin/contracts/access/Ownable.sol";
import { Address } from "@openzeppelin/contracts/utils/Address.sol";
import { Guarded } from "./Guarded.sol";
import { IHub } from "./interfaces/IHub.sol";
import { HubMessage } from "./libraries/HubMessage.sol";
import { Names } from "./libraries/Names.sol";

/// @title The hub of a network; see IHub for what it does
/// @notice Three roles, held apart: the owner sets the minimum, peers and roles, withdraws what is kept and unpauses;
/// the relayer delivers what was paid on other chains; the pauser can stop bids, messages and deliveries, nothing else.
/// @dev A direct call reverts for its caller's mistake. A bridged message never does: each bid is judged alone, what
/// cannot count is credited, and what remains to revert is what a retry mends (paused, another value than the sum, too
/// little gas). State is written before money leaves; balance >= kept + owed holds after every call and during each.
contract Hub is IHub, OAppReceiver, Guarded {
    using HubMessage for bytes;

    /// Why a bid was refused; the `reason` of `BidRefused`.
    uint8 private constant NOT_REFUSED = 0;
    uint8 private constant MALFORMED_NAME = 1;
    uint8 private constant BELOW_MINIMUM = 2;

    /// Gas for the receiver of a payout in a message: enough for the smart wallets in use, too little to be a burden.
    uint256 private constant PAYOUT_GAS = 50_000;
    /// With this much left before a payout, EIP-150 leaves the receiver its PAYOUT_GAS whole, after the price of the
    /// call (value 9,000, new account 25,000, cold 2,600), and the hub what it needs to put a failed one back.
    uint256 private constant PAYOUT_GAS_FLOOR = 120_000;

    mapping(bytes32 name => bytes32 owner) public override ownerOf;
    mapping(bytes32 from => uint256 amount) public override refundOf;
    mapping(bytes32 messageId => bool) public override isDelivered;
    mapping(uint256 day => uint256 amount) public override deliveredOn;

    uint256 public override kept;
    uint256 public override owed;
    uint256 public override minimum;
    uint256 public override deliverLimit;
    address public relayer;

    /// @param endpoint_ LayerZero's EndpointV2 of this chain; the owner becomes the hub's delegate there
    /// @param minimum_ least bid, wei
    /// @param deliverLimit_ what deliveries may win in a day (UTC), wei
    constructor(
        address endpoint_,
        address owner_,
        address relayer_,
        address pauser_,
        uint256 minimum_,
        uint256 deliverLimit_
    ) OAppCore(endpoint_, owner_) Ownable(owner_) Guarded(pauser_) {
        _setMinimum(minimum_);
        _setDeliverLimit(deliverLimit_);
        _setRelayer(relayer_);
    }

    // ---- bids paid here

    function placeBid(bytes32 name) external payable override {
        _placeOne(name, bytes32(0));
    }

    function placeBid(bytes32 name, bytes32 referral) external payable override {
        _placeOne(name, referral);
    }

    function placeBids(uint256[] calldata amounts, bytes32[] calldata names) external payable override {
        _placeMany(amounts, names, bytes32(0));
    }

    function placeBids(
        uint256[] calldata amounts,
        bytes32[] calldata names,
        bytes32 referral
    ) external payable override {
        _placeMany(amounts, names, referral);
    }

    function _placeOne(bytes32 name, bytes32 referral) private whenNotPaused {
        _requireSound(msg.value, name);
        bytes32 from = _toBytes32(msg.sender);
        _account(from, _judge(from, msg.value, name, referral));
    }

    function _placeMany(uint256[] calldata amounts, bytes32[] calldata names, bytes32 referral) private whenNotPaused {
        uint256 sum = _requireBatch(amounts, names);
        if (msg.value != sum) revert WrongValue(msg.value, sum);
        for (uint256 i = 0; i < names.length; ++i) _requireSound(amounts[i], names[i]);
        bytes32 from = _toBytes32(msg.sender);
        _account(from, _judgeAll(from, amounts, names, referral));
    }

    // ---- bids that come in messages

    /// @inheritdoc IHub
    function deliver(
        bytes32 messageId,
        bytes32 from,
        uint256[] calldata amounts,
        bytes32[] calldata names,
        bytes32 referral
    ) external override whenNotPaused {
        if (msg.sender != relayer) revert NotRelayer(msg.sender);
        if (from == bytes32(0)) revert ZeroSender();
        if (isDelivered[messageId]) revert AlreadyDelivered(messageId);
        _requireBatch(amounts, names);
        isDelivered[messageId] = true;

        // Only what is won counts against the day: bids that lose or are refused give nothing away, so nobody can use
        // the day up with payments that will be refunded.
        uint256 today = block.timestamp / 1 days;
        uint256 total = deliveredOn[today] + _judgeAll(from, amounts, names, referral);
        if (total > deliverLimit) revert DeliverLimitExceeded(total, deliverLimit);
        deliveredOn[today] = total;
        emit Received(messageId, from, names.length);
    }

    /// A message of a peer, given by the endpoint, which takes each only once.
    function _lzReceive(
        Origin calldata,
        bytes32 guid,
        bytes calldata message,
        address,
        bytes calldata
    ) internal override whenNotPaused {
        (bytes32 from, bytes calldata hubCalldata) = message.open();
        HubMessage.Kind kind = hubCalldata.kindOf();
        uint256 bids = 0;
        if (from == bytes32(0) || kind == HubMessage.Kind.Unknown) _refuse(guid, from);
        else if (kind == HubMessage.Kind.Withdrawal) _receiveWithdrawal(guid, from, hubCalldata);
        else bids = _receiveBids(guid, from, hubCalldata, kind);
        emit Received(guid, from, bids);
    }

    function _receiveBids(
        bytes32 guid,
        bytes32 from,
        bytes calldata hubCalldata,
        HubMessage.Kind kind
    ) private returns (uint256) {
        (bool ok, uint256[] calldata amounts, bytes32[] calldata names, bytes32 referral, uint256 sum) = hubCalldata
            .readBids(kind);
        if (!ok) {
            _refuse(guid, from);
            return 0;
        }
        // Whoever executes chooses the value; with the right one the same message goes through.
        if (msg.value != sum) revert WrongValue(msg.value, sum);
        _account(from, _judgeAll(from, amounts, names, referral));
        return names.length;
    }

    function _receiveWithdrawal(bytes32 guid, bytes32 from, bytes calldata hubCalldata) private {
        (bool ok, address to) = hubCalldata.readWithdrawal();
        if (!ok) {
            _refuse(guid, from);
            return;
        }
        _credit(from, msg.value);
        uint256 amount = refundOf[from];
        if (amount != 0) _payOut(guid, from, to, amount);
    }

    /// Pays a credit out, or leaves it standing. The receiver gets the same gas whoever executes: a failure is its own,
    /// never that of an executor who was stingy.
    function _payOut(bytes32 guid, bytes32 from, address to, uint256 amount) private {
        if (gasleft() < PAYOUT_GAS_FLOOR) revert TooLittleGas();
        bool paid = false;
        if (to != address(0)) {
            _debit(from, amount);
            assembly ("memory-safe") {
                // No return data is copied, so the receiver cannot make that expensive.
                paid := call(PAYOUT_GAS, to, amount, 0, 0, 0, 0)
            }
            if (!paid) _credit(from, amount);
        }
        if (paid) emit RefundWithdrawn(from, to, amount);
        else emit PayoutFailed(guid, from, to, amount);
    }

    function _refuse(bytes32 guid, bytes32 from) private {
        _credit(from, msg.value);
        emit MessageRefused(guid, from, msg.value);
    }

    // ---- judging

    function _judgeAll(
        bytes32 from,
        uint256[] calldata amounts,
        bytes32[] calldata names,
        bytes32 referral
    ) private returns (uint256 won) {
        for (uint256 i = 0; i < names.length; ++i) won += _judge(from, amounts[i], names[i], referral);
    }

    /// One bid: what it wins, its amount or nothing. Money is the caller's to account for.
    function _judge(bytes32 from, uint256 amount, bytes32 name, bytes32 referral) private returns (uint256 won) {
        if (referral == bytes32(0)) emit Bid(from, amount, name);
        else emit Bid(from, amount, name, referral);

        uint8 reason = _faultOf(amount, name);
        if (reason != NOT_REFUSED) {
            emit BidRefused(from, amount, name, reason);
        } else if (ownerOf[name] == bytes32(0)) {
            ownerOf[name] = from;
            won = amount;
        }
    }

    function _faultOf(uint256 amount, bytes32 name) private view returns (uint8) {
        if (!Names.isWellFormed(name)) return MALFORMED_NAME;
        return amount < minimum ? BELOW_MINIMUM : NOT_REFUSED;
    }

    function _requireSound(uint256 amount, bytes32 name) private view {
        uint8 reason = _faultOf(amount, name);
        if (reason == MALFORMED_NAME) revert MalformedName(name);
        if (reason == BELOW_MINIMUM) revert BelowMinimum(amount, minimum);
    }

    function _requireBatch(uint256[] calldata amounts, bytes32[] calldata names) private pure returns (uint256) {
        (bool ok, uint256 sum) = HubMessage.sumOf(amounts);
        if (!ok || amounts.length != names.length) revert BadBatch();
        return sum;
    }

    // ---- money

    /// Books msg.value: what was won is kept, the rest owed to its sender.
    function _account(bytes32 from, uint256 won) private {
        kept += won;
        _credit(from, msg.value - won);
    }

    function _credit(bytes32 from, uint256 amount) private {
        if (amount == 0) return;
        refundOf[from] += amount;
        owed += amount;
    }

    function _debit(bytes32 from, uint256 amount) private {
        refundOf[from] -= amount;
        owed -= amount;
    }

    /// @inheritdoc IHub
    function withdrawRefund(address to) external override {
        if (to == address(0)) revert ZeroAddress();
        bytes32 from = _toBytes32(msg.sender);
        uint256 amount = refundOf[from];
        if (amount == 0) revert NothingOwed();
        _debit(from, amount);
        emit RefundWithdrawn(from, to, amount);
        Address.sendValue(payable(to), amount);
    }

    /// @inheritdoc IHub
    function withdrawKept(address to) external override onlyOwner {
        if (to == address(0)) revert ZeroAddress();
        uint256 amount = kept;
        kept = 0;
        emit KeptWithdrawn(to, amount);
        Address.sendValue(payable(to), amount);
    }

    // ---- settings

    function setMinimum(uint256 minimum_) external onlyOwner {
        _setMinimum(minimum_);
    }

    /// @notice Zero stops every delivery that would win something.
    function setDeliverLimit(uint256 weiPerDay) external onlyOwner {
        _setDeliverLimit(weiPerDay);
    }

    /// @notice The zero address leaves the role empty.
    function setRelayer(address relayer_) external onlyOwner {
        _setRelayer(relayer_);
    }

    function _setMinimum(uint256 minimum_) private {
        minimum = minimum_;
        emit MinimumSet(minimum_);
    }

    function _setDeliverLimit(uint256 weiPerDay) private {
        deliverLimit = weiPerDay;
        emit DeliverLimitSet(weiPerDay);
    }

    function _setRelayer(address relayer_) private {
        relayer = relayer_;
        emit RelayerSet(relayer_);
    }

    function _toBytes32(address account) private pure returns (bytes32) {
        return bytes32(uint256(uint160(account)));
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
