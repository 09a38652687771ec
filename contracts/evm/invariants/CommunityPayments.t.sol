// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import { CommunityPayments } from "../src/CommunityPayments.sol";
import { Invariants } from "./support/Invariants.sol";
import { PaymentsHandler } from "./support/PaymentsHandler.sol";

/// @title What holds for the payments contract, whatever is called by whomever in whatever order
contract CommunityPaymentsInvariants is Invariants {
    PaymentsHandler private _handler;
    CommunityPayments private _payments;

    function setUp() public {
        _handler = new PaymentsHandler();
        _handlerOfAll = _handler;
        _payments = _handler.payments();
    }

    function invariant_payments() public view {
        holdsWhatItOwes();
        eachPaymentEndsOnce();
        owesWhatIsHeldOrCredited();
        recordIsTheFoldOfTheLogs();
    }

    /// @notice In the coin and in each token, after each call and whenever somebody is paid or a token calls back.
    function holdsWhatItOwes() public view {
        require(_handler.isCovered(), "balance < owed");
        require(!_handler.wasShort(), "balance < owed during a call");
    }

    /// @notice Refused, released or reclaimed, for good.
    function eachPaymentEndsOnce() public view {
        require(_handler.endedWrongly() == 0, "a payment ended twice, or was never made");
        require(_handler.areOutcomesKept(), "an outcome is not what the logs give");
    }

    /// @notice Each payment is its payer's or its recipient's until it is fetched.
    function owesWhatIsHeldOrCredited() public view {
        require(_handler.areTotalsKept(), "a token's books are not what the logs give");
        require(_handler.areCreditsKept(), "a credit is not what the logs give");
    }

    /// @notice IRecord has the rule.
    function recordIsTheFoldOfTheLogs() public view {
        require(_payments.recordHash() == _handler.record(), "recordHash is not the fold of the logs");
    }
}
