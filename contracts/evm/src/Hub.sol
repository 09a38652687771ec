// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import { OAppCore } from "@layerzerolabs/oapp-evm/contracts/oapp/OAppCore.sol";
import { OAppReceiver, Origin } from "@layerzerolabs/oapp-evm/contracts/oapp/OAppReceiver.sol";
import { Ownable } from "@openzeppelin/contracts/access/Ownable.sol";
import { Guarded } from "./Guarded.sol";
import { Record } from "./Record.sol";
import { IHub } from "./interfaces/IHub.sol";
import { IMinimum } from "./interfaces/IMinimum.sol";
import { HubMessage } from "./libraries/HubMessage.sol";
import { Names } from "./libraries/Names.sol";

/// @title The hub of a network; see IHub for what it does
/// @notice Three roles, held apart: the owner sets the minimum, peers and roles, withdraws what is kept and unpauses;
/// the relayer delivers what was paid on other chains; the pauser can stop bids and deliveries, nothing else. Nobody
/// stops withdrawals.
/// @dev A direct call reverts for its caller's mistake. A bridged message does not: each bid is judged alone, what
/// cannot count is credited, and what remains to revert is what a retry mends (another value than the sum, too little
/// gas, a receiver that does not take its money now). State is written and logged before money leaves; balance >= owed
/// holds after every call and during each.
contract Hub is IHub, OAppReceiver, Guarded, Record {
    using HubMessage for bytes;

    /// The chain of direct calls among credits; no endpoint of LayerZero has this id.
    uint32 private constant HERE = 0;
    /// Topics of the two forms of `Bid`, which one name stands for.
    bytes32 private constant BID = keccak256("Bid(bytes32,uint256,bytes32)");
    bytes32 private constant BID_WITH_REFERRAL = keccak256("Bid(bytes32,uint256,bytes32,bytes32)");

    /// @inheritdoc IHub
    mapping(bytes32 name => bytes32 owner) public override ownerOf;
    /// @inheritdoc IHub
    mapping(uint32 eid => mapping(bytes32 from => uint256 amount)) public override refundOf;
    /// @inheritdoc IHub
    mapping(uint256 day => uint256 amount) public override deliveredOn;

    /// @inheritdoc IHub
    uint256 public override owed;
    /// @inheritdoc IHub
    uint256 public override deliverLimit;
    /// @inheritdoc IHub
    address public override relayer;

    /// One bit for each payment of a source, by sequence.
    mapping(bytes32 source => mapping(uint256 index => uint256 bits)) private _delivered;

    /// @notice Deploys a hub without peers.
    /// @param endpoint_ LayerZero's EndpointV2 of this chain; the owner becomes the hub's delegate there
    /// @param owner_ may do what Guarded, Minimum and this contract keep for the owner
    /// @param relayer_ may deliver; zero for nobody
    /// @param pauser_ may pause; zero for the owner alone
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

    /// @inheritdoc IHub
    function placeBid(bytes32 name) external payable override {
        _placeOne(name, bytes32(0));
    }

    /// @inheritdoc IHub
    function placeBid(bytes32 name, bytes32 referral) external payable override {
        _placeOne(name, referral);
    }

    /// @inheritdoc IHub
    function placeBids(uint256[] calldata amounts, bytes32[] calldata names) external payable override {
        _placeMany(amounts, names, bytes32(0));
    }

    /// @inheritdoc IHub
    function placeBids(
        uint256[] calldata amounts,
        bytes32[] calldata names,
        bytes32 referral
    ) external payable override {
        _placeMany(amounts, names, referral);
    }

    function _placeOne(bytes32 name, bytes32 referral) private whenNotPaused {
        bytes32 from = _toBytes32(msg.sender);
        _requireSound(msg.value, name, minimum());
        if (!_place(from, msg.value, name, referral)) _credit(HERE, from, msg.value);
    }

    function _placeMany(uint256[] calldata amounts, bytes32[] calldata names, bytes32 referral) private whenNotPaused {
        uint256 sum = _requireBatch(amounts, names);
        if (msg.value != sum) revert WrongValue(msg.value, sum);
        bytes32 from = _toBytes32(msg.sender);
        uint256 least = minimum();
        uint256 lost = 0;
        for (uint256 i = 0; i < names.length; ++i) {
            _requireSound(amounts[i], names[i], least);
            if (!_place(from, amounts[i], names[i], referral)) lost += amounts[i];
        }
        _credit(HERE, from, lost);
    }

    // ---- bids that come in messages

    /// @inheritdoc IHub
    function deliver(Delivery[] calldata deliveries) external override whenNotPaused {
        if (msg.sender != relayer) revert NotRelayer(msg.sender, relayer);
        // Only what is won counts against the day: bids that lose or are refused give nothing away, so nobody can use
        // the day up with payments that will be refunded.
        uint256 day = block.timestamp / 1 days;
        uint256 before = deliveredOn[day];
        uint256 today = before;
        for (uint256 i = 0; i < deliveries.length; ++i) {
            uint256 won = _take(deliveries[i]);
            if (won == 0) continue;
            uint256 limit = deliverLimit;
            if (today > limit || won > limit - today) revert DeliverLimitExceeded(won, today, limit);
            today += won;
        }
        if (today != before) deliveredOn[day] = today;
    }

    /// One delivery, once.
    function _take(Delivery calldata delivery) private returns (uint256 won) {
        (bytes32 source, uint64 sequence, bytes32 from) = (delivery.source, delivery.sequence, delivery.from);
        (uint256 index, uint256 bit) = _bitOf(sequence);
        uint256 bits = _delivered[source][index];
        if (bits & bit != 0) return 0;
        if (from == bytes32(0)) revert ZeroSender(source, sequence);
        uint256 sum = _requireBatch(delivery.amounts, delivery.names);
        _delivered[source][index] = bits | bit;
        won = sum - _judgeAll(from, delivery.amounts, delivery.names, delivery.referral);
        _received(keccak256(abi.encodePacked(source, sequence)), from, delivery.names.length);
    }

    /// A message of a peer, given by the endpoint, which takes each only once. A pause stops bids alone, so the kind is
    /// known first.
    function _lzReceive(
        Origin calldata origin,
        bytes32 guid,
        bytes calldata message,
        address,
        bytes calldata
    ) internal override {
        (bytes32 from, bytes calldata hubCalldata) = message.open();
        HubMessage.Kind kind = hubCalldata.kindOf();
        if (from == bytes32(0) || kind == HubMessage.Kind.Unknown) _refuse(origin.srcEid, guid, from);
        else if (kind == HubMessage.Kind.Withdrawal) _receiveWithdrawal(origin.srcEid, guid, from, hubCalldata);
        else _receiveBids(origin.srcEid, guid, from, hubCalldata, kind);
    }

    function _receiveBids(
        uint32 eid,
        bytes32 guid,
        bytes32 from,
        bytes calldata hubCalldata,
        HubMessage.Kind kind
    ) private {
        (bool ok, uint256[] calldata amounts, bytes32[] calldata names, bytes32 referral, uint256 sum) = hubCalldata
            .readBids(kind);
        if (!ok) return _refuse(eid, guid, from);
        // Whoever executes chooses the value; with the right one the same message goes through.
        if (msg.value != sum) revert WrongValue(msg.value, sum);
        _credit(eid, from, _judgeAll(from, amounts, names, referral));
        _received(guid, from, names.length);
    }

    function _receiveWithdrawal(uint32 eid, bytes32 guid, bytes32 from, bytes calldata hubCalldata) private {
        (bool ok, address to) = hubCalldata.readWithdrawal();
        if (!ok) return _refuse(eid, guid, from);
        _credit(eid, from, msg.value);
        uint256 amount = refundOf[eid][from];
        if (amount != 0) _debit(eid, from, to, amount);
        _received(guid, from, 0);
        if (amount != 0) _pay(to, amount);
    }

    function _refuse(uint32 eid, bytes32 guid, bytes32 from) private {
        emit MessageRefused(guid, from, msg.value);
        // nobody could withdraw a credit of nobody's
        if (from != bytes32(0)) _credit(eid, from, msg.value);
        _received(guid, from, 0);
    }

    function _received(bytes32 guid, bytes32 from, uint256 bids) private {
        recordHash = keccak256(abi.encode(recordHash, block.timestamp, Received.selector, guid, from, bids));
        emit Received(guid, from, bids);
    }

    // ---- judging

    /// Bids of a message, each judged alone. Answers what they did not win, wei.
    function _judgeAll(
        bytes32 from,
        uint256[] calldata amounts,
        bytes32[] calldata names,
        bytes32 referral
    ) private returns (uint256 lost) {
        bool isPaused = paused();
        uint256 least = minimum();
        for (uint256 i = 0; i < names.length; ++i) {
            RefusalReason reason = _faultOf(amounts[i], names[i], least, isPaused);
            if (reason == RefusalReason.None) {
                if (!_place(from, amounts[i], names[i], referral)) lost += amounts[i];
                continue;
            }
            _log(from, amounts[i], names[i], referral);
            recordHash = keccak256(
                abi.encode(recordHash, block.timestamp, BidRefused.selector, from, names[i], amounts[i], reason)
            );
            emit BidRefused(from, amounts[i], names[i], reason);
            lost += amounts[i];
        }
    }

    function _faultOf(uint256 amount, bytes32 name, uint256 least, bool isPaused) private pure returns (RefusalReason) {
        if (!Names.isWellFormed(name)) return RefusalReason.MalformedName;
        if (amount < least) return RefusalReason.BelowMinimum;
        return isPaused ? RefusalReason.Paused : RefusalReason.None;
    }

    /// A sound bid: it wins a name that nobody has.
    function _place(bytes32 from, uint256 amount, bytes32 name, bytes32 referral) private returns (bool hasWon) {
        _log(from, amount, name, referral);
        hasWon = ownerOf[name] == bytes32(0);
        if (hasWon) ownerOf[name] = from;
    }

    function _log(bytes32 from, uint256 amount, bytes32 name, bytes32 referral) private {
        if (referral == bytes32(0)) {
            recordHash = keccak256(abi.encode(recordHash, block.timestamp, BID, from, amount, name));
            emit Bid(from, amount, name);
        } else {
            recordHash = keccak256(
                abi.encode(recordHash, block.timestamp, BID_WITH_REFERRAL, from, amount, name, referral)
            );
            emit Bid(from, amount, name, referral);
        }
    }

    function _requireBatch(uint256[] calldata amounts, bytes32[] calldata names) private pure returns (uint256) {
        (bool ok, uint256 sum) = HubMessage.sumOf(amounts);
        if (!ok || amounts.length != names.length) revert BadBatch(amounts.length, names.length);
        return sum;
    }

    // ---- money

    function _credit(uint32 eid, bytes32 from, uint256 amount) private {
        if (amount == 0) return;
        refundOf[eid][from] += amount;
        owed += amount;
        recordHash = keccak256(abi.encode(recordHash, block.timestamp, Credited.selector, from, eid, amount));
        emit Credited(from, eid, amount);
    }

    /// The first half of a payment: the whole credit is gone before money leaves.
    function _debit(uint32 eid, bytes32 from, address to, uint256 amount) private {
        refundOf[eid][from] = 0;
        owed -= amount;
        recordHash = keccak256(
            abi.encode(recordHash, block.timestamp, RefundWithdrawn.selector, from, eid, to, amount)
        );
        emit RefundWithdrawn(from, eid, to, amount);
    }

    /// The second half. No return data is copied, so no receiver can make that dear.
    function _pay(address to, uint256 amount) private {
        bool isPaid;
        assembly ("memory-safe") {
            isPaid := call(gas(), to, amount, 0, 0, 0, 0)
        }
        if (!isPaid) revert PaymentFailed(to, amount);
    }

    /// @inheritdoc IHub
    function withdrawRefund(address to) external override {
        if (to == address(0)) revert ZeroAddress();
        _withdraw(msg.sender, to);
    }

    /// @inheritdoc IHub
    function withdrawRefundFor(address account) external override {
        _withdraw(account, account);
    }

    function _withdraw(address account, address to) private {
        bytes32 from = _toBytes32(account);
        uint256 amount = refundOf[HERE][from];
        if (amount == 0) revert NothingOwed(account);
        _debit(HERE, from, to, amount);
        _pay(to, amount);
    }

    /// @inheritdoc IHub
    function kept() public view override returns (uint256) {
        return address(this).balance - owed;
    }

    /// @inheritdoc IHub
    function withdrawKept(address to) external override onlyOwner {
        if (to == address(0)) revert ZeroAddress();
        uint256 amount = kept();
        emit KeptWithdrawn(to, amount);
        _pay(to, amount);
    }

    // ---- settings

    function _setMinimum(uint256 minimum_) internal override {
        super._setMinimum(minimum_);
        recordHash = keccak256(abi.encode(recordHash, block.timestamp, IMinimum.MinimumSet.selector, minimum_));
    }

    /// @inheritdoc IHub
    function setDeliverLimit(uint256 weiPerDay) external override onlyOwner {
        _setDeliverLimit(weiPerDay);
    }

    /// @inheritdoc IHub
    function setRelayer(address relayer_) external override onlyOwner {
        _setRelayer(relayer_);
    }

    function _setDeliverLimit(uint256 weiPerDay) private {
        deliverLimit = weiPerDay;
        emit DeliverLimitSet(weiPerDay);
    }

    function _setRelayer(address relayer_) private {
        relayer = relayer_;
        emit RelayerSet(relayer_);
    }

    // ---- words

    /// @inheritdoc IHub
    function isDelivered(bytes32 source, uint64 sequence) external view override returns (bool) {
        (uint256 index, uint256 bit) = _bitOf(sequence);
        return _delivered[source][index] & bit != 0;
    }

    /// Where a sequence stands among the bits: the word's index, and the bit in it.
    function _bitOf(uint64 sequence) private pure returns (uint256 index, uint256 bit) {
        return (sequence >> 8, 1 << (sequence & 0xff));
    }

    function _toBytes32(address account) private pure returns (bytes32) {
        return bytes32(uint256(uint160(account)));
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
