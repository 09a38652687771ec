// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import { CommunityPayments } from "../../src/CommunityPayments.sol";
import { ICommunityPayments } from "../../src/interfaces/ICommunityPayments.sol";
import { TestToken } from "../../test-doubles/TestToken.sol";
import { Actor } from "./Actor.sol";
import { Handler } from "./Handler.sol";
import { vm, Vm } from "./Vm.sol";

/// @title A payments contract with tokens that behave badly, and every way to call it
contract PaymentsHandler is Handler {
    /// Who is owed a token.
    struct Creditor {
        address account;
        address token;
    }

    bytes32 private constant BID = ICommunityPayments.Bid.selector;
    bytes32 private constant DOMAIN_TYPEHASH = keccak256(
        "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"
    );
    bytes32 private constant RELEASE_TYPEHASH = keccak256("Release(bytes32[] paymentIds)");
    address private constant NATIVE = address(0);
    uint256 private constant MOST = 1_000;
    uint64 private constant RECLAIM_SECONDS = 1 days;
    uint256 private constant MODES = 9;
    /// Keys of which one has the relayer role.
    uint256 private constant FIRST_KEY = 0xa11ce;
    uint256 private constant KEYS = 2;

    CommunityPayments public immutable payments;
    address private immutable _owner;
    address private immutable _pauser;
    /// @notice The chain's own coin and two tokens.
    address[] public tokens;

    /// @notice Payments by the logs.
    ICommunityPayments.Payment[] public made;
    mapping(bytes32 paymentId => ICommunityPayments.Outcome) private _outcomes;
    mapping(bytes32 paymentId => uint256) private _indexes;
    /// @notice Payments that ended a second time, or that nobody had made.
    uint256 public endedWrongly;
    /// @notice Credits by the logs.
    mapping(address account => mapping(address token => uint256)) public creditByLogs;
    Creditor[] private _creditors;
    mapping(address account => mapping(address token => bool)) private _isCreditor;
    /// @notice What is held or credited, by the logs.
    mapping(address token => uint256) public owedByLogs;
    /// @notice How many payments were made, by the logs.
    mapping(address token => uint64) public countByLogs;

    constructor() {
        _owner = _actor(0);
        _pauser = _actor(1);
        payments = new CommunityPayments(_owner, _relayer(0), _pauser, RECLAIM_SECONDS);
        tokens.push(NATIVE);
        for (uint256 i = 0; i < 2; ++i) {
            TestToken token = new TestToken();
            tokens.push(address(token));
            for (uint256 who = 0; who < _actors.length; ++who) {
                token.mint(_actor(who), type(uint128).max);
                vm.prank(_actor(who));
                token.approve(address(payments), type(uint256).max);
            }
        }
    }

    // ---- calls

    function placeBid(uint256 who, uint256 seed, uint256 to) external {
        address token = _token(seed);
        uint256 amount = seed % MOST;
        uint256 value = token == NATIVE ? amount : 0;
        if (seed % 16 == 15) ++value;
        ICommunityPayments.BidRequest memory bid = ICommunityPayments.BidRequest({
            token: token,
            amount: amount,
            paymentRecipient: to % 16 == 0 ? address(0) : _actor(to),
            communityName: seed % 32 == 1 ? bytes32("Not A Name") : bytes32("club"),
            walletName: bytes32("alice"),
            referralAddress: bytes32(seed % 3)
        });
        _callPayments(_actor(who), value, abi.encodeCall(ICommunityPayments.placeBid, (bid)));
    }

    function refuse(uint256 who, uint256 seed) external {
        address from = _mostly(payments.relayer(), who);
        _callPayments(from, 0, abi.encodeCall(ICommunityPayments.refuse, (_chosen(seed))));
    }

    function release(uint256 who, uint256 seed) external {
        address from = _mostly(payments.relayer(), who);
        _callPayments(from, 0, abi.encodeCall(ICommunityPayments.release, (_chosen(seed))));
    }

    function releaseFor(uint256 who, uint256 seed, uint256 key) external {
        ICommunityPayments.Payment[] memory chosen = _chosen(seed);
        bytes memory call = abi.encodeCall(ICommunityPayments.releaseFor, (chosen, _signature(chosen, key)));
        _callPayments(_actor(who), 0, call);
    }

    function releaseAndWithdraw(uint256 who, uint256 seed, uint256 key) external {
        ICommunityPayments.Payment[] memory chosen = _chosen(seed);
        address from = chosen.length == 0 ? _actor(who) : chosen[0].recipient;
        address token = chosen.length == 0 ? _token(seed) : chosen[0].token;
        bytes memory signature = _signature(chosen, key);
        bytes memory call = abi.encodeCall(
            ICommunityPayments.releaseAndWithdraw,
            (chosen, signature, token, _actor(who))
        );
        _callPayments(from, 0, call);
    }

    function reclaim(uint256 who, uint256 seed) external {
        (ICommunityPayments.Payment[] memory chosen, address from) = _chosenOfOne(who, seed);
        _callPayments(from, 0, abi.encodeCall(ICommunityPayments.reclaim, (chosen)));
    }

    function reclaimAndWithdraw(uint256 who, uint256 seed) external {
        (ICommunityPayments.Payment[] memory chosen, address from) = _chosenOfOne(who, seed);
        address token = chosen.length == 0 ? _token(seed) : chosen[0].token;
        bytes memory call = abi.encodeCall(ICommunityPayments.reclaimAndWithdraw, (chosen, token, _actor(who)));
        _callPayments(from, 0, call);
    }

    function withdraw(uint256 which, uint256 to) external {
        (address account, address token) = _creditor(which);
        _callPayments(account, 0, abi.encodeCall(ICommunityPayments.withdraw, (token, _actor(to))));
    }

    function withdrawFor(uint256 who, uint256 which) external {
        (address account, address token) = _creditor(which);
        _callPayments(_actor(who), 0, abi.encodeCall(ICommunityPayments.withdrawFor, (account, token)));
    }

    function setRelayer(uint256 who, uint256 key) external {
        _callPayments(_mostly(_owner, who), 0, abi.encodeWithSignature("setRelayer(address)", _relayer(key)));
    }

    /// A pause is rare: most runs are about bids that count.
    function pause(uint256 who, uint256 chance) external {
        if (chance % 4 != 0) return;
        _callPayments(_mostly(_pauser, who), 0, abi.encodeWithSignature("pause()"));
    }

    function unpause(uint256 who) external {
        _callPayments(_mostly(_owner, who), 0, abi.encodeWithSignature("unpause()"));
    }

    /// Money that no call brings; nobody is owed it.
    function force(uint256 seed) external {
        if (_token(seed) == NATIVE) vm.deal(address(payments), address(payments).balance + (seed % MOST));
        else TestToken(_token(seed)).mint(address(payments), seed % MOST);
    }

    /// A token that takes fees, lies, refuses, rounds, or calls back before it moves anything. Half the time it is sound.
    function misbehave(uint256 which, uint256 mode, uint256 who) external {
        TestToken token = TestToken(tokens[1 + (which % 2)]);
        if (mode % 2 == 0) return token.setMode(TestToken.Mode.Plain);
        token.setCallBack(_actor(who), abi.encodeCall(Actor.calledBack, ()));
        if (mode % 4 == 1) token.setMode(TestToken.Mode((mode / 4) % MODES));
    }

    /// What an account does when it is paid, or when a token calls it.
    function behave(uint256 who, uint256 how, uint256 seed) external {
        Actor actor = Actor(payable(_actor(who)));
        if (how % 8 == 0) return actor.setMode(Actor.Mode.Refuse);
        if (how % 2 == 0) return actor.setMode(Actor.Mode.Accept);
        (address account, address token) = _creditor(seed);
        bytes memory call =
            how % 4 == 1
                ? abi.encodeCall(ICommunityPayments.withdrawFor, (account, token))
                : abi.encodeCall(ICommunityPayments.withdraw, (token, account));
        actor.setCallBack(address(payments), 0, call);
    }

    // ---- what is compared

    /// @inheritdoc Handler
    function isCovered() public view override returns (bool) {
        for (uint256 i = 0; i < tokens.length; ++i) {
            (uint192 owed, ) = payments.totalsOf(tokens[i]);
            uint256 balance =
                tokens[i] == NATIVE ? address(payments).balance : TestToken(tokens[i]).balanceOf(address(payments));
            if (balance < owed) return false;
        }
        return true;
    }

    /// @notice Whether the books of each token are what the logs give.
    function areTotalsKept() external view returns (bool) {
        for (uint256 i = 0; i < tokens.length; ++i) {
            (uint192 owed, uint64 count) = payments.totalsOf(tokens[i]);
            if (owed != owedByLogs[tokens[i]] || count != countByLogs[tokens[i]]) return false;
        }
        return true;
    }

    /// @notice Whether each credit is the one that the logs give.
    function areCreditsKept() external view returns (bool) {
        for (uint256 i = 0; i < _creditors.length; ++i) {
            Creditor memory one = _creditors[i];
            if (payments.creditOf(one.account, one.token) != creditByLogs[one.account][one.token]) return false;
        }
        return true;
    }

    /// @notice Whether each payment has the outcome that its one ending gave it, or is held.
    function areOutcomesKept() external view returns (bool) {
        for (uint256 i = 0; i < made.length; ++i) {
            bytes32 id = _idOf(made[i]);
            if (payments.outcomeOf(id) != _outcomes[id]) return false;
        }
        return true;
    }

    // ---- the fold

    /// @inheritdoc Handler
    function _fold(Vm.Log[] memory logs, uint256 index) internal override {
        Vm.Log memory log = logs[index];
        bytes32 topic = log.topics[0];
        if (topic == ICommunityPayments.Held.selector) _foldHeld(logs[index - 1], log);
        else if (topic == ICommunityPayments.Refused.selector) _foldEnd(log, ICommunityPayments.Outcome.Refused);
        else if (topic == ICommunityPayments.Released.selector) _foldEnd(log, ICommunityPayments.Outcome.Released);
        else if (topic == ICommunityPayments.Reclaimed.selector) _foldEnd(log, ICommunityPayments.Outcome.Reclaimed);
        else if (topic == ICommunityPayments.Withdrawn.selector) {
            (address account, address token) = (_address(log.topics[1]), _address(log.topics[2]));
            uint256 amount = abi.decode(log.data, (uint256));
            // a contract that pays too much fails its invariants, not this subtraction
            unchecked {
                creditByLogs[account][token] -= amount;
                owedByLogs[token] -= amount;
            }
        }
    }

    /// `Bid` and the `Held` that follows it at once are all of a payment.
    function _foldHeld(Vm.Log memory bid, Vm.Log memory held) private {
        require(bid.topics.length == 1 && bid.topics[0] == BID && bid.data.length == 256, "no Bid before Held");
        require(held.topics.length == 2 && held.data.length == 64, "another shape than Held's");
        ICommunityPayments.Payment memory payment;
        bytes32 from;
        uint256 chainId;
        uint256 amount;
        (
            from,
            chainId,
            payment.token,
            amount,
            payment.recipient,
            payment.communityName,
            payment.walletName,
            payment.referralAddress
        ) = abi.decode(bid.data, (bytes32, uint256, address, uint256, address, bytes32, bytes32, bytes32));
        (payment.number, payment.reclaimableAt) = abi.decode(held.data, (uint64, uint64));
        payment.payer = _address(from);
        payment.amount = uint128(amount);
        bytes32 id = held.topics[1];
        require(id == _idOf(payment) && chainId == block.chainid, "an id that is not its payment's");
        if (_outcomes[id] != ICommunityPayments.Outcome.None) ++endedWrongly;
        _outcomes[id] = ICommunityPayments.Outcome.Held;
        _indexes[id] = made.length;
        made.push(payment);
        owedByLogs[payment.token] += amount;
        ++countByLogs[payment.token];
        _record(abi.encodePacked(held.topics[0], id));
    }

    function _foldEnd(Vm.Log memory log, ICommunityPayments.Outcome outcome) private {
        require(log.topics.length == 4 && log.data.length == 32, "another shape than the event's");
        bytes32 id = log.topics[1];
        _record(abi.encodePacked(log.topics[0], id));
        if (_outcomes[id] != ICommunityPayments.Outcome.Held) {
            ++endedWrongly;
            return;
        }
        _outcomes[id] = outcome;
        ICommunityPayments.Payment memory payment = made[_indexes[id]];
        bool isReleased = outcome == ICommunityPayments.Outcome.Released;
        address side = isReleased ? payment.recipient : payment.payer;
        require(
            _address(log.topics[2]) == side &&
                _address(log.topics[3]) == payment.token &&
                abi.decode(log.data, (uint256)) == payment.amount,
            "a log that is not its payment's"
        );
        creditByLogs[side][payment.token] += payment.amount;
        if (!_isCreditor[side][payment.token]) _creditors.push(Creditor(side, payment.token));
        _isCreditor[side][payment.token] = true;
    }

    // ---- what calls are made of

    function _callPayments(address from, uint256 value, bytes memory data) private {
        _call(from, address(payments), value, data, address(payments));
    }

    /// Up to three payments, new and ended ones, the same twice; one in eight is changed.
    function _chosen(uint256 seed) private view returns (ICommunityPayments.Payment[] memory chosen) {
        if (made.length == 0) return chosen;
        chosen = new ICommunityPayments.Payment[](seed % 4);
        for (uint256 i = 0; i < chosen.length; ++i) {
            uint256 own = uint256(keccak256(abi.encode(seed, i)));
            chosen[i] = made[own % made.length];
            if (own % 8 == 7) chosen[i].amount ^= 1;
        }
    }

    /// Mostly payments of one payer, in its name.
    function _chosenOfOne(
        uint256 who,
        uint256 seed
    ) private view returns (ICommunityPayments.Payment[] memory chosen, address from) {
        chosen = _chosen(seed);
        if (chosen.length == 0 || who % 4 == 0) return (chosen, _actor(who));
        from = chosen[0].payer;
        for (uint256 i = 1; i < chosen.length; ++i) if (chosen[i].payer != from) chosen[i] = chosen[0];
    }

    /// By the key of one of those that may have the role.
    function _signature(ICommunityPayments.Payment[] memory chosen, uint256 key) private view returns (bytes memory) {
        bytes32[] memory ids = new bytes32[](chosen.length);
        for (uint256 i = 0; i < chosen.length; ++i) ids[i] = _idOf(chosen[i]);
        bytes32 domain = keccak256(
            abi.encode(
                DOMAIN_TYPEHASH,
                keccak256("CommunityPayments"),
                keccak256("1"),
                block.chainid,
                address(payments)
            )
        );
        bytes32 release_ = keccak256(abi.encode(RELEASE_TYPEHASH, keccak256(abi.encodePacked(ids))));
        bytes32 digest = keccak256(abi.encodePacked(hex"1901", domain, release_));
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(FIRST_KEY + (key % KEYS), digest);
        return abi.encodePacked(r, s, v);
    }

    function _creditor(uint256 seed) private view returns (address account, address token) {
        if (_creditors.length == 0 || seed % 8 == 0) return (_actor(seed / 8), _token(seed));
        Creditor memory one = _creditors[seed % _creditors.length];
        return (one.account, one.token);
    }

    function _idOf(ICommunityPayments.Payment memory payment) private view returns (bytes32) {
        return keccak256(abi.encode(payment, block.chainid, address(payments)));
    }

    function _relayer(uint256 key) private pure returns (address) {
        return vm.addr(FIRST_KEY + (key % KEYS));
    }

    function _token(uint256 seed) private view returns (address) {
        return tokens[(seed >> 16) % tokens.length];
    }

    function _address(bytes32 word) private pure returns (address) {
        return address(uint160(uint256(word)));
    }
}
