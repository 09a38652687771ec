// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import { Hub } from "../src/Hub.sol";
import { HubHandler } from "./support/HubHandler.sol";
import { Invariants } from "./support/Invariants.sol";

/// @title What holds for the hub, whatever is called by whomever in whatever order
contract HubInvariants is Invariants {
    HubHandler private _handler;
    Hub private _hub;

    function setUp() public {
        _handler = new HubHandler();
        _handlerOfAll = _handler;
        _hub = _handler.hub();
    }

    function invariant_hub() public view {
        holdsWhatItOwes();
        ownersNeverChange();
        eachPaymentCountsOnce();
        keepsOrOwesEveryWei();
        recordIsTheFoldOfTheLogs();
    }

    /// @notice After each call, and whenever somebody is paid in a call.
    function holdsWhatItOwes() public view {
        require(_handler.isCovered(), "balance < owed");
        require(!_handler.wasShort(), "balance < owed during a call");
    }

    /// @notice A name is its first bidder's, for good.
    function ownersNeverChange() public view {
        require(_handler.areOwnersKept(), "a name is not its first bidder's");
    }

    /// @notice Messages of spokes and deliveries of the relayer.
    function eachPaymentCountsOnce() public view {
        require(_handler.takenTwice() == 0, "a message or delivery was taken twice");
    }

    /// @notice A credit is the sum of an account's bids that won nothing. No money is lost or counted twice.
    function keepsOrOwesEveryWei() public view {
        require(_hub.owed() == _handler.owedByLogs(), "owed is not the sum of the credits");
        require(_hub.kept() == _handler.keptByLogs(), "kept is not what winning bids paid");
        require(_handler.areCreditsKept(), "a credit is not what the logs give");
    }

    /// @notice IRecord has the rule.
    function recordIsTheFoldOfTheLogs() public view {
        require(_hub.recordHash() == _handler.record(), "recordHash is not the fold of the logs");
    }
}
