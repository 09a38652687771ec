// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title Payments for names of communities
/// @notice A payment is held for a while, in which the relayer may refuse it: it is then the payer's again, and nobody
/// else's. After that it is the recipient's. Who is owed fetches the money. What a name costs is not known here: the
/// service judges each payment, the contract keeps it until it has. The zero address is the chain's own coin.
interface ICommunityPayments {
    struct BidRequest {
        address token;
        uint256 amount;
        address paymentRecipient;
        bytes32 communityName;
        bytes32 walletName;
        bytes32 referralAddress;
    }

    /// A payment that is held: deleted when it is refused or released.
    /// @param heldUntil Unix time, seconds: refused before, released from then on
    /// @param nameKey keccak256(communityName, walletName)
    struct Payment {
        address payer;
        uint64 heldUntil;
        address recipient;
        address token;
        uint256 amount;
        bytes32 nameKey;
    }

    /// A payment; `from` is the payer, left-padded, `tokenChainId` this chain's id.
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

    /// Follows each `Bid` at once, and gives it its id.
    event Held(bytes32 paymentId, uint64 heldUntil);

    /// The payer has the amount to fetch, and the name may be paid for again.
    event Refused(bytes32 paymentId, address payer, address token, uint256 amount);

    /// The recipient has the amount to fetch.
    event Released(bytes32 paymentId, address recipient, address token, uint256 amount);
    event Withdrawn(address account, address token, address to, uint256 amount);
    event Reopened(bytes32 communityName, bytes32 walletName, bytes32 paymentId);
    event HoldSet(uint64 holdSeconds);
    event RelayerSet(address relayer);

    error MalformedName(bytes32 name);

    /// The name has a payment that stands: of this id.
    error NameTaken(bytes32 paymentId);
    error ZeroAmount();
    error ZeroAddress();

    /// The value sent is not the amount; for a token it has to be zero.
    error WrongValue(uint256 value, uint256 expected);

    /// The token moved another amount than it was told to: it takes a fee, or lies.
    error WrongTransfer(uint256 moved, uint256 amount);

    /// No payment of this id is held.
    error NotHeld(bytes32 paymentId);

    /// The time in which it could be refused is over.
    error HoldOver(uint64 heldUntil);
    error StillHeld(uint64 heldUntil);
    error NothingOwed();
    error NoPayment();
    error NotRelayer(address caller);
    error HoldTooLong(uint64 holdSeconds, uint64 most);

    /// @notice Pays for a name. The value is the amount for the chain's own coin; a token has to be approved before.
    function placeBid(BidRequest calldata bid) external payable;

    /// @notice The relayer's: gives a payment that is held back to its payer. Also while paused.
    function refuse(bytes32 paymentId) external;

    /// @notice Makes payments whose hold is over their recipients'. Anybody may; also while paused.
    function release(bytes32[] calldata paymentIds) external;

    /// @notice Pays what the caller is owed of a token to an address of its choice. Also while paused.
    function withdraw(address token, address to) external;

    /// @notice Both at once.
    function releaseAndWithdraw(bytes32[] calldata paymentIds, address token, address to) external;

    /// @notice The payment that keeps others off a name; zero if there is none.
    function paymentOf(bytes32 communityName, bytes32 walletName) external view returns (bytes32 paymentId);

    /// @notice What an account may fetch of a token.
    function creditOf(address account, address token) external view returns (uint256);

    /// @notice What is held of a token, for payments that are neither refused nor released.
    function held(address token) external view returns (uint256);

    /// @notice What accounts may fetch of a token, all together.
    function credited(address token) external view returns (uint256);
}
