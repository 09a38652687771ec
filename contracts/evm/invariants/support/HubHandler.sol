// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {
    ILayerZeroEndpointV2,
    Origin
} from "@layerzerolabs/lz-evm-protocol-v2/contracts/interfaces/ILayerZeroEndpointV2.sol";
import { LocalMessageLib } from "../../local/LocalMessageLib.sol";
import { Hub } from "../../src/Hub.sol";
import { IHub } from "../../src/interfaces/IHub.sol";
import { IMinimum } from "../../src/interfaces/IMinimum.sol";
import { Actor } from "./Actor.sol";
import { Handler } from "./Handler.sol";
import { vm, Vm } from "./Vm.sol";

/// @title A hub behind LayerZero's endpoint, and every way to call it
contract HubHandler is Handler {
    /// A message of a spoke, which the endpoint has taken as verified.
    struct Message {
        Origin origin;
        bytes32 guid;
        uint256 value;
        bytes message;
    }

    /// A credit's key.
    struct Creditor {
        uint32 eid;
        bytes32 from;
    }

    string private constant ENDPOINT_ARTIFACT =
        "node_modules/@layerzerolabs/lz-evm-protocol-v2/artifacts/contracts/EndpointV2.sol/EndpointV2.json";
    uint32 private constant HUB_EID = 30_101;
    uint32 private constant FIRST_SPOKE_EID = 40_001;
    uint32 private constant SPOKES = 2;
    bytes32 private constant SPOKE = bytes32(uint256(0x5b0c));
    bytes32 private constant BID = keccak256("Bid(bytes32,uint256,bytes32)");
    bytes32 private constant BID_WITH_REFERRAL = keccak256("Bid(bytes32,uint256,bytes32,bytes32)");
    bytes4 private constant PLACE_BIDS = bytes4(keccak256("placeBids(uint256[],bytes32[])"));
    bytes4 private constant PLACE_BIDS_WITH_REFERRAL = bytes4(keccak256("placeBids(uint256[],bytes32[],bytes32)"));
    /// Amounts are small, so that bids below the minimum and days above their limit are common.
    uint256 private constant MOST_WEI = 200;

    Hub public immutable hub;
    ILayerZeroEndpointV2 private immutable _endpoint;
    LocalMessageLib private immutable _library;
    address private immutable _owner;
    address private immutable _relayer;
    address private immutable _pauser;

    Message[] private _messages;
    mapping(uint32 eid => uint64 nonce) private _nonces;
    bool private _isDelivering;

    /// @notice Who owns a name by the first bid that the logs do not refuse. It is written once.
    mapping(bytes32 name => bytes32 owner) public ownerByLogs;
    /// @notice Names that were bid for, refused ones too.
    bytes32[] public names;
    mapping(bytes32 name => bool isKnown) private _isName;
    /// @notice Credits by the logs.
    mapping(uint32 eid => mapping(bytes32 from => uint256 amount)) public creditByLogs;
    /// @notice Who had a credit at some time.
    Creditor[] public creditors;
    mapping(uint32 eid => mapping(bytes32 from => bool isKnown)) private _isCreditor;
    /// @notice The sum of the credits by the logs.
    uint256 public owedByLogs;
    /// @notice What winning bids paid and what came without a bid, without what the owner took.
    uint256 public keptByLogs;
    /// @notice Messages and deliveries that the hub took a second time.
    uint256 public takenTwice;
    mapping(bytes32 guid => bool isTaken) private _isTaken;

    constructor() {
        _owner = _actor(0);
        _relayer = _actor(1);
        _pauser = _actor(2);
        _endpoint = ILayerZeroEndpointV2(_deployEndpoint());
        _library = new LocalMessageLib(address(_endpoint), address(this), address(this));
        _endpoint.registerLibrary(address(_library));
        vm.recordLogs();
        hub = new Hub(address(_endpoint), _owner, _relayer, _pauser, MOST_WEI / 4, MOST_WEI * 4);
        _foldRecorded(true, address(hub));
        for (uint32 i = 0; i < SPOKES; ++i) {
            _endpoint.setDefaultReceiveLibrary(FIRST_SPOKE_EID + i, address(_library), 0);
            vm.prank(_owner);
            hub.setPeer(FIRST_SPOKE_EID + i, SPOKE);
        }
    }

    /// LayerZero's own contract as LayerZero compiled it: its sources need an older OpenZeppelin than ours.
    function _deployEndpoint() private returns (address endpoint) {
        bytes memory code = vm.parseJsonBytes(vm.readFile(ENDPOINT_ARTIFACT), ".bytecode");
        bytes memory creation = abi.encodePacked(code, abi.encode(HUB_EID, address(this)));
        assembly ("memory-safe") {
            endpoint := create(0, add(creation, 32), mload(creation))
        }
        require(endpoint != address(0), "deploying LayerZero's endpoint");
    }

    // ---- calls

    function placeBid(uint256 who, uint256 name, uint256 amount, uint256 referral) external {
        bytes memory data =
            referral % 2 == 0
                ? abi.encodeWithSignature("placeBid(bytes32)", _name(name))
                : abi.encodeWithSignature("placeBid(bytes32,bytes32)", _name(name), bytes32(referral));
        _callHub(_actor(who), amount % MOST_WEI, data);
    }

    function placeBids(uint256 who, uint256 seed, uint256 referral) external {
        (bytes memory data, uint256 sum) = _bids(seed, referral);
        _callHub(_actor(who), _value(sum, seed), data);
    }

    /// A message of a spoke is verified and executed; with the wrong value it waits for `execute`.
    function bridge(uint256 who, uint256 seed, uint256 referral) external {
        (bytes memory data, uint256 sum) = _bids(seed, referral);
        _bridge(who, seed, data, sum);
    }

    function bridgeWithdrawal(uint256 who, uint256 seed, uint256 to) external {
        bytes memory data = abi.encodeCall(IHub.withdrawRefund, (to % 8 == 0 ? address(0) : _actor(to)));
        _bridge(who, seed, data, seed % 3 == 0 ? seed % MOST_WEI : 0);
    }

    function bridgeGarbage(uint256 who, uint256 seed, bytes calldata data) external {
        _bridge(who, seed, data, seed % MOST_WEI);
    }

    /// Executes a message again, or at last.
    function execute(uint256 which, uint256 executor) external {
        if (_messages.length > 0) _execute(_messages[which % _messages.length], executor, executor);
    }

    /// A message that the endpoint knows nothing of.
    function forge(uint256 who, uint256 seed) external {
        (bytes memory data, uint256 sum) = _bids(seed, 0);
        bytes memory message = abi.encode(_bidder(who), data);
        Origin memory origin = Origin({ srcEid: FIRST_SPOKE_EID, sender: SPOKE, nonce: uint64(seed) });
        _callHub(_actor(who), sum, abi.encodeCall(hub.lzReceive, (origin, bytes32(seed), message, address(0), "")));
    }

    function deliver(uint256 who, uint256 seed, uint256 referral) external {
        IHub.Delivery[] memory deliveries = new IHub.Delivery[](1 + (seed % 2));
        for (uint256 i = 0; i < deliveries.length; ++i) {
            uint256 own = _mix(seed, i);
            (uint256[] memory amounts, bytes32[] memory bidNames, ) = _batch(own);
            deliveries[i] = IHub.Delivery({
                source: bytes32(1 + (own % 2)),
                sequence: uint64(own % 50),
                from: _bidder(own),
                amounts: amounts,
                names: bidNames,
                referral: bytes32(referral % 3)
            });
        }
        _isDelivering = true;
        _callHub(_mostly(_relayer, who), 0, abi.encodeCall(IHub.deliver, (deliveries)));
        _isDelivering = false;
    }

    function withdrawRefund(uint256 who, uint256 to) external {
        _callHub(_actor(who), 0, abi.encodeCall(IHub.withdrawRefund, (_actor(to))));
    }

    function withdrawRefundFor(uint256 who, uint256 account) external {
        _callHub(_actor(who), 0, abi.encodeCall(IHub.withdrawRefundFor, (_actor(account))));
    }

    function withdrawKept(uint256 who, uint256 to) external {
        _callHub(_mostly(_owner, who), 0, abi.encodeCall(IHub.withdrawKept, (_actor(to))));
    }

    function setMinimum(uint256 who, uint256 minimum) external {
        _callHub(_mostly(_owner, who), 0, abi.encodeCall(IMinimum.setMinimum, (minimum % MOST_WEI)));
    }

    function setDeliverLimit(uint256 who, uint256 limit) external {
        _callHub(_mostly(_owner, who), 0, abi.encodeCall(IHub.setDeliverLimit, (limit % (MOST_WEI * 8))));
    }

    /// A pause is rare: most runs are about bids that count.
    function pause(uint256 who, uint256 chance) external {
        if (chance % 4 != 0) return;
        _callHub(_mostly(_pauser, who), 0, abi.encodeWithSignature("pause()"));
    }

    function unpause(uint256 who) external {
        _callHub(_mostly(_owner, who), 0, abi.encodeWithSignature("unpause()"));
    }

    /// Money that no call brings: a block's reward, a contract that ends.
    function force(uint256 amount) external {
        amount %= MOST_WEI;
        vm.deal(address(hub), address(hub).balance + amount);
        keptByLogs += amount;
    }

    /// What an account does when it is paid.
    function behave(uint256 who, uint256 how, uint256 seed) external {
        Actor actor = Actor(payable(_actor(who)));
        if (how % 4 < 2) return actor.setMode(Actor.Mode(how % 4));
        uint256 kind = seed % 4;
        address to = _actor(seed / 4);
        bytes memory data;
        if (kind == 0) data = abi.encodeCall(IHub.withdrawRefund, (to));
        else if (kind == 1) data = abi.encodeCall(IHub.withdrawRefundFor, (to));
        else if (kind == 2) data = abi.encodeCall(IHub.withdrawKept, (to));
        else data = abi.encodeWithSignature("placeBid(bytes32)", _name(seed / 4));
        actor.setCallBack(address(hub), kind == 3 ? MOST_WEI / 2 : 0, data);
    }

    // ---- what is compared

    /// @inheritdoc Handler
    function isCovered() public view override returns (bool) {
        return address(hub).balance >= hub.owed();
    }

    /// @notice Whether each name has the owner that its first bid gave it.
    function areOwnersKept() external view returns (bool) {
        for (uint256 i = 0; i < names.length; ++i) if (hub.ownerOf(names[i]) != ownerByLogs[names[i]]) return false;
        return true;
    }

    /// @notice Whether each credit is the one that the logs give.
    function areCreditsKept() external view returns (bool) {
        for (uint256 i = 0; i < creditors.length; ++i) {
            Creditor memory one = creditors[i];
            if (hub.refundOf(one.eid, one.from) != creditByLogs[one.eid][one.from]) return false;
        }
        return true;
    }

    // ---- the fold

    /// @inheritdoc Handler
    function _fold(Vm.Log[] memory logs, uint256 index) internal override {
        Vm.Log memory log = logs[index];
        bytes32 topic = log.topics[0];
        if (topic == BID) return _foldBid(logs, index, 1, 96);
        if (topic == BID_WITH_REFERRAL) return _foldBid(logs, index, 1, 128);
        if (topic == IHub.BidRefused.selector) return _recordLog(log, 3, 64);
        if (topic == IMinimum.MinimumSet.selector) return _recordLog(log, 1, 32);
        if (topic == IHub.Received.selector) {
            _recordLog(log, 3, 32);
            if (_isTaken[log.topics[1]]) ++takenTwice;
            _isTaken[log.topics[1]] = true;
        } else if (topic == IHub.Credited.selector) {
            _recordLog(log, 3, 32);
            _foldCredit(uint32(uint256(log.topics[2])), log.topics[1], abi.decode(log.data, (uint256)));
        } else if (topic == IHub.RefundWithdrawn.selector) {
            _recordLog(log, 3, 64);
            (, uint256 amount) = abi.decode(log.data, (address, uint256));
            // a contract that pays too much fails its invariants, not this subtraction
            unchecked {
                creditByLogs[uint32(uint256(log.topics[2]))][log.topics[1]] -= amount;
                owedByLogs -= amount;
            }
        } else if (topic == IHub.KeptWithdrawn.selector) {
            unchecked {
                keptByLogs -= abi.decode(log.data, (uint256));
            }
        } else if (topic == IHub.MessageRefused.selector && log.topics[2] == bytes32(0)) {
            keptByLogs += abi.decode(log.data, (uint256));
        }
    }

    /// A bid counts unless the next log refuses it, and wins a name that nobody has.
    function _foldBid(Vm.Log[] memory logs, uint256 index, uint256 topics, uint256 dataBytes) private {
        _recordLog(logs[index], topics, dataBytes);
        (bytes32 from, uint256 amount, bytes32 name) = abi.decode(logs[index].data, (bytes32, uint256, bytes32));
        if (!_isName[name]) names.push(name);
        _isName[name] = true;
        bool isRefused = index + 1 < logs.length && logs[index + 1].topics[0] == IHub.BidRefused.selector;
        if (isRefused || ownerByLogs[name] != bytes32(0)) return;
        ownerByLogs[name] = from;
        if (!_isDelivering) keptByLogs += amount;
    }

    function _foldCredit(uint32 eid, bytes32 from, uint256 amount) private {
        creditByLogs[eid][from] += amount;
        owedByLogs += amount;
        if (!_isCreditor[eid][from]) creditors.push(Creditor(eid, from));
        _isCreditor[eid][from] = true;
    }

    function _recordLog(Vm.Log memory log, uint256 topics, uint256 dataBytes) private {
        require(log.topics.length == topics && log.data.length == dataBytes, "another shape than the event's");
        _record(abi.encodePacked(log.topics, log.data));
    }

    // ---- what calls are made of

    function _callHub(address from, uint256 value, bytes memory data) private {
        _call(from, address(hub), value, data, address(hub));
    }

    function _bridge(uint256 who, uint256 seed, bytes memory data, uint256 value) private {
        uint32 eid = FIRST_SPOKE_EID + uint32(seed % SPOKES);
        uint64 nonce = ++_nonces[eid];
        bytes memory message = abi.encode(_bidder(who), data);
        Origin memory origin = Origin({ srcEid: eid, sender: SPOKE, nonce: nonce });
        bytes32 guid = keccak256(abi.encode(origin));
        _library.validatePacket(
            abi.encodePacked(
                uint8(1),
                nonce,
                eid,
                SPOKE,
                HUB_EID,
                bytes32(uint256(uint160(address(hub)))),
                guid,
                message
            )
        );
        _messages.push(Message(origin, guid, value, message));
        _execute(_messages[_messages.length - 1], who, seed);
    }

    function _execute(Message memory one, uint256 executor, uint256 seed) private {
        bytes memory call = abi.encodeCall(_endpoint.lzReceive, (one.origin, address(hub), one.guid, one.message, ""));
        _call(_actor(executor), address(_endpoint), _value(one.value, seed), call, address(hub));
    }

    function _bids(uint256 seed, uint256 referral) private pure returns (bytes memory data, uint256 sum) {
        uint256[] memory amounts;
        bytes32[] memory bidNames;
        (amounts, bidNames, sum) = _batch(seed);
        data =
            referral % 2 == 0
                ? abi.encodeWithSelector(PLACE_BIDS, amounts, bidNames)
                : abi.encodeWithSelector(PLACE_BIDS_WITH_REFERRAL, amounts, bidNames, bytes32(referral));
    }

    function _batch(
        uint256 seed
    ) private pure returns (uint256[] memory amounts, bytes32[] memory bidNames, uint256 sum) {
        uint256 count = 1 + (_mix(seed, 100) % 3);
        amounts = new uint256[](count);
        bidNames = new bytes32[](count);
        for (uint256 i = 0; i < count; ++i) {
            amounts[i] = _mix(seed, 2 * i) % MOST_WEI;
            bidNames[i] = _name(_mix(seed, 2 * i + 1));
            sum += amounts[i];
        }
    }

    /// Few names, so that many bids come too late; one in eight is malformed.
    function _name(uint256 seed) private pure returns (bytes32) {
        if (seed % 8 == 0) return bytes32("Not A Name");
        return bytes32(bytes1(uint8(0x61 + (seed % 24))));
    }

    /// An account, mostly; else a Solana key, or nobody.
    function _bidder(uint256 seed) private view returns (bytes32) {
        if (seed % 16 == 0) return bytes32(0);
        if (seed % 16 == 1) return keccak256("a Solana key");
        return bytes32(uint256(uint160(_actor(seed))));
    }

    /// The value of a call, which is wrong one time in eight.
    function _value(uint256 sum, uint256 seed) private pure returns (uint256) {
        return seed % 8 == 7 ? sum + 1 : sum;
    }

    function _mix(uint256 seed, uint256 index) private pure returns (uint256) {
        return uint256(keccak256(abi.encode(seed, index)));
    }
}
