// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title Payments for names of communities
/// @notice A payment is held until the relayer role has spoken: refused, it is its payer's again; released, it is its
///   recipient's. What has had neither for a time is the payer's to reclaim: nobody's silence pays a recipient. Who is
///   owed fetches the money. The price and the owner of a name are not known here: the service judges each payment.
///   The zero address as a token is the chain's own coin.
interface ICommunityPayments {
    /// @notice What becomes of a payment. It changes once, from Held, and can be read for ever.
    enum Outcome {
        /// No such payment was made.
        None,
        Held,
        Refused,
        Released,
        Reclaimed
    }

    /// @notice A payment as its payer asks for it.
    /// @param token what is paid in
    /// @param amount base units, at most 2^128 - 1
    /// @param paymentRecipient who is paid
    /// @param communityName the community, a name as on the hub
    /// @param walletName the name below it
    /// @param referralAddress who sent the payer, zero for nobody
    struct BidRequest {
        address token;
        uint256 amount;
        address paymentRecipient;
        bytes32 communityName;
        bytes32 walletName;
        bytes32 referralAddress;
    }

    /// @notice A payment that was made. The contract keeps its hash alone; callers bring it.
    /// @param number counts the payments in the token, from 1
    /// @param reclaimableAt Unix time, seconds, from which on the payer may reclaim it
    /// @param payer who paid
    /// @param recipient who is paid
    /// @param token what was paid in
    /// @param amount base units
    /// @param communityName the community
    /// @param walletName the name below it
    /// @param referralAddress who sent the payer, zero for nobody
    struct Payment {
        uint64 number;
        uint64 reclaimableAt;
        address payer;
        address recipient;
        address token;
        uint128 amount;
        bytes32 communityName;
        bytes32 walletName;
        bytes32 referralAddress;
    }

    /// @notice A payment was made.
    /// @param from the payer, left-padded
    /// @param tokenChainId this chain's id
    /// @param token what was paid in
    /// @param amount base units
    /// @param paymentRecipient who is paid
    /// @param communityName the community
    /// @param walletName the name below it
    /// @param referralAddress who sent the payer, zero for nobody
    event Bid(
        bytes32 from,
        uint256 tokenChainId,
        address token,
        uint256 amount,
        address paymentRecipient,
        bytes32 communityName,
        bytes32 walletName,
        bytes32 referralAddress
    );

    /// @notice Follows each `Bid` at once, and has the rest of the payment.
    /// @param paymentId the payment's id
    /// @param number counts the payments in the token, from 1
    /// @param reclaimableAt Unix time, seconds
    event Held(bytes32 indexed paymentId, uint64 number, uint64 reclaimableAt);

    /// @notice The payer has the amount to fetch: the payment bought nothing.
    /// @param paymentId the payment's id
    /// @param payer who paid
    /// @param token what was paid in
    /// @param amount base units
    event Refused(bytes32 indexed paymentId, address indexed payer, address indexed token, uint256 amount);

    /// @notice The recipient has the amount to fetch.
    /// @param paymentId the payment's id
    /// @param recipient who is paid
    /// @param token what was paid in
    /// @param amount base units
    event Released(bytes32 indexed paymentId, address indexed recipient, address indexed token, uint256 amount);

    /// @notice The payer has the amount to fetch: nobody had spoken in time.
    /// @param paymentId the payment's id
    /// @param payer who paid
    /// @param token what was paid in
    /// @param amount base units
    event Reclaimed(bytes32 indexed paymentId, address indexed payer, address indexed token, uint256 amount);

    /// @notice An account's credit was paid out.
    /// @param account whose credit
    /// @param token what was paid out
    /// @param to who got it
    /// @param amount base units
    event Withdrawn(address indexed account, address indexed token, address indexed to, uint256 amount);

    /// @notice The relayer role was given to another account.
    /// @param relayer the account, zero for nobody
    event RelayerSet(address indexed relayer);

    /// @notice Not a name (Names.sol).
    /// @param name the word
    error MalformedName(bytes32 name);

    /// @notice Nothing is paid.
    error ZeroAmount();

    /// @notice Nobody is paid.
    error ZeroAddress();

    /// @notice More than a payment may be.
    /// @param amount what was to be paid
    /// @param most what may be
    error AmountTooLarge(uint256 amount, uint256 most);

    /// @notice The value sent is not the amount; for a token it has to be zero.
    /// @param value what was sent
    /// @param expected what has to be
    error WrongValue(uint256 value, uint256 expected);

    /// @notice The token moved another amount than requested: it takes a fee, or lies.
    /// @param moved what it moved
    /// @param amount requested amount
    error WrongTransfer(uint256 moved, uint256 amount);

    /// @notice Only the payer reclaims.
    /// @param caller who called
    /// @param payer who may
    error NotPayer(address caller, address payer);

    /// @notice Too early to reclaim.
    /// @param time the block's, Unix seconds
    /// @param reclaimableAt Unix time, seconds, from which on it goes
    error NotReclaimable(uint64 time, uint64 reclaimableAt);

    /// @notice The account has no credit of the token.
    /// @param account whose credit
    /// @param token what was to be paid out
    error NothingOwed(address account, address token);

    /// @notice Only the relayer role may.
    /// @param caller who called
    /// @param relayer who may
    error NotRelayer(address caller, address relayer);

    /// @notice The signature is not the relayer role's over these payments.
    /// @param relayer who had to sign
    /// @param digest what had to be signed
    error NotSigned(address relayer, bytes32 digest);

    /// @notice No payment can be reclaimed that early or that late.
    /// @param reclaimSeconds what was asked for
    /// @param least what may be, seconds
    /// @param most what may be, seconds
    error ReclaimOutOfRange(uint64 reclaimSeconds, uint64 least, uint64 most);

    /// @notice Pays for a name. The value is the amount for the chain's own coin; a token has to be approved before.
    /// @param bid what is paid for, and how much
    function placeBid(BidRequest calldata bid) external payable;

    /// @notice The relayer role's: makes payments their payers' again, and skips what is not held. Also while paused.
    /// @param payments as their events have them
    function refuse(Payment[] calldata payments) external;

    /// @notice The relayer role's: makes payments their recipients', and skips what is not held. Also while paused.
    /// @param payments as their events have them
    function release(Payment[] calldata payments) external;

    /// @notice Anybody's: the same with the relayer role's word for it, which has no end.
    /// @param payments as their events have them
    /// @param signature of the relayer role over the typed data `Release(bytes32[] paymentIds)`, in this order
    function releaseFor(Payment[] calldata payments, bytes calldata signature) external;

    /// @notice Their payer's: takes payments back once their time has come, and skips what is not held.
    /// @param payments as their events have them
    function reclaim(Payment[] calldata payments) external;

    /// @notice Pays the caller's credit of a token to an address of its choice. Also while paused.
    /// @param token what is paid out
    /// @param to who gets it
    function withdraw(address token, address to) external;

    /// @notice Anybody's: pays an account's credit of a token to that account. Also while paused.
    /// @param account whose credit, and who gets it
    /// @param token what is paid out
    function withdrawFor(address account, address token) external;

    /// @notice `releaseFor` and `withdraw` at once.
    /// @param payments as their events have them
    /// @param signature of the relayer role
    /// @param token what is paid out
    /// @param to who gets it
    function releaseAndWithdraw(
        Payment[] calldata payments,
        bytes calldata signature,
        address token,
        address to
    ) external;

    /// @notice `reclaim` and `withdraw` at once.
    /// @param payments as their events have them
    /// @param token what is paid out
    /// @param to who gets it
    function reclaimAndWithdraw(Payment[] calldata payments, address token, address to) external;

    /// @notice A payment's id: keccak256 of its fields, the chain's id and this contract, each as a word.
    /// @param payment as its events have it
    /// @return its id
    function idOf(Payment calldata payment) external view returns (bytes32);

    /// @notice What became of a payment.
    /// @param paymentId its id
    /// @return its outcome
    function outcomeOf(bytes32 paymentId) external view returns (Outcome);

    /// @notice What became of payments.
    /// @param paymentIds their ids
    /// @return outcomes in the same order
    function outcomesOf(bytes32[] calldata paymentIds) external view returns (Outcome[] memory outcomes);

    /// @notice What an account may fetch of a token.
    /// @param account whose credit
    /// @param token what it is in
    /// @return base units
    function creditOf(address account, address token) external view returns (uint256);

    /// @notice The books of a token.
    /// @param token whose books
    /// @return owed what is held or credited, base units; the contract's balance is never below
    /// @return payments how many were made
    function totalsOf(address token) external view returns (uint192 owed, uint64 payments);

    /// @notice How long a payer waits before it may reclaim.
    /// @return seconds
    function reclaimSeconds() external view returns (uint64);

    /// @notice Who refuses and releases.
    /// @return the account, zero for nobody
    function relayer() external view returns (address);
}
