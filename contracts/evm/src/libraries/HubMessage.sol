// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title The message that spokes send to the hub: `abi.encode(bytes32 sender, bytes hubCalldata)`
/// @notice Hub and spoke read hub calldata with the same functions, so what a spoke lets through the hub understands.
/// Everything is checked by reading words (selector, offsets, lengths); nothing here reverts, whatever the bytes: a
/// revert on the receive path would have to be caught, and whoever executes a message could force one by giving too
/// little gas. Valid is what Solidity's own decoder takes (trailing bytes and any offset inside the data), with 1 to
/// MAX_BIDS names, as many amounts as names, and a sum below 2^256.
library HubMessage {
    /// The calls that may travel in a message; Unknown is any other.
    enum Kind {
        Unknown,
        Bids,
        BidsWithReferral,
        Withdrawal
    }

    /// At most this many names in one call or message.
    uint256 internal constant MAX_BIDS = 100;

    bytes4 private constant PLACE_BIDS = bytes4(keccak256("placeBids(uint256[],bytes32[])"));
    bytes4 private constant PLACE_BIDS_WITH_REFERRAL = bytes4(keccak256("placeBids(uint256[],bytes32[],bytes32)"));
    bytes4 private constant WITHDRAW_REFUND = bytes4(keccak256("withdrawRefund(address)"));

    /// @notice Sender and hub calldata of a message; empty calldata when the message does not hold them.
    /// @param message as the spoke sent it, any bytes
    /// @return from the sender; zero only if the message is shorter than a word or names nobody
    /// @return hubCalldata a slice of the message
    function open(bytes calldata message) internal pure returns (bytes32 from, bytes calldata hubCalldata) {
        hubCalldata = message[0:0];
        if (message.length < 32) return (from, hubCalldata);
        from = bytes32(message[0:32]);
        if (message.length < 64) return (from, hubCalldata);
        (bool found, uint256 start, uint256 length) = _find(message, uint256(bytes32(message[32:64])), 1);
        if (found) hubCalldata = message[start:start + length];
    }

    /// @notice Which of the calls that may travel in a message this is, by its selector alone.
    /// @param hubCalldata any bytes
    /// @return the kind; Unknown for none of them
    function kindOf(bytes calldata hubCalldata) internal pure returns (Kind) {
        if (hubCalldata.length < 4) return Kind.Unknown;
        bytes4 selector = bytes4(hubCalldata[0:4]);
        if (selector == PLACE_BIDS) return Kind.Bids;
        if (selector == PLACE_BIDS_WITH_REFERRAL) return Kind.BidsWithReferral;
        if (selector == WITHDRAW_REFUND) return Kind.Withdrawal;
        return Kind.Unknown;
    }

    /// @notice The bids of a `placeBids` call, whose form `kindOf` has returned.
    /// @param hubCalldata of at least 4 bytes
    /// @param kind Bids or BidsWithReferral
    /// @return ok false if it does not decode, its arrays differ in length, hold none or more than MAX_BIDS, or the
    /// sum of its amounts does not fit in 256 bits (no value could ever equal it); the rest means nothing then
    /// @return amounts of the bids, wei
    /// @return names bid for, in the order of the amounts
    /// @return referral zero for none
    /// @return sum of the amounts, wei
    function readBids(
        bytes calldata hubCalldata,
        Kind kind
    )
        internal
        pure
        returns (bool ok, uint256[] calldata amounts, bytes32[] calldata names, bytes32 referral, uint256 sum)
    {
        bytes calldata args = hubCalldata[4:];
        (ok, amounts) = _arrayAt(args, 0);
        (bool found, uint256[] calldata nameWords) = _arrayAt(args, 32);
        assembly {
            names.offset := nameWords.offset
            names.length := nameWords.length
        }
        if (kind == Kind.BidsWithReferral) {
            if (args.length < 96) found = false;
            else referral = bytes32(args[64:96]);
        }
        if (!ok || !found || amounts.length != names.length) return (false, amounts, names, referral, 0);
        (ok, sum) = sumOf(amounts);
    }

    /// @notice The address in a `withdrawRefund(address)` call.
    /// @param hubCalldata of at least 4 bytes
    /// @return ok false if it does not decode, or names nobody: such a payment could never be made
    /// @return to where the money is to go
    function readWithdrawal(bytes calldata hubCalldata) internal pure returns (bool ok, address to) {
        if (hubCalldata.length < 36) return (false, to);
        uint256 word = uint256(bytes32(hubCalldata[4:36]));
        return (word != 0 && word >> 160 == 0, address(uint160(word)));
    }

    /// @notice Sum of 1 to MAX_BIDS amounts.
    /// @param amounts wei
    /// @return ok false if there are none, too many, or the sum does not fit in 256 bits
    /// @return sum wei
    function sumOf(uint256[] calldata amounts) internal pure returns (bool ok, uint256 sum) {
        uint256 count = amounts.length;
        if (count == 0 || count > MAX_BIDS) return (false, 0);
        for (uint256 i = 0; i < count; ++i) {
            uint256 next;
            unchecked {
                next = sum + amounts[i];
            }
            if (next < sum) return (false, 0);
            sum = next;
        }
        return (true, sum);
    }

    /// The array whose offset stands at byte `head` of the arguments; empty if not found.
    function _arrayAt(bytes calldata args, uint256 head) private pure returns (bool found, uint256[] calldata words) {
        assembly {
            words.offset := args.offset
            words.length := 0
        }
        if (args.length < head + 32) return (false, words);
        uint256 start;
        uint256 length;
        (found, start, length) = _find(args, uint256(bytes32(args[head:head + 32])), 32);
        if (!found) return (false, words);
        assembly {
            words.offset := add(args.offset, start)
            words.length := length
        }
    }

    /// Where the elements of a dynamic value start in `data`, and how many there are, given the offset of its length
    /// word; not found if any part lies outside. No comparison here can overflow.
    function _find(
        bytes calldata data,
        uint256 offset,
        uint256 elementSize
    ) private pure returns (bool found, uint256 start, uint256 length) {
        if (data.length < 32 || offset > data.length - 32) return (false, 0, 0);
        start = offset + 32;
        length = uint256(bytes32(data[offset:start]));
        found = length <= (data.length - start) / elementSize;
    }
}
