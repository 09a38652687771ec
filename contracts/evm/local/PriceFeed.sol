// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title A price that anybody may set, read as Chainlink's AggregatorV3Interface
/// @notice For local chains: each answer is a round of its own, counted from 1.
contract PriceFeed {
    struct Round {
        int256 answer;
        uint256 updatedAt;
    }

    uint256 public constant version = 1;
    uint8 public immutable decimals;
    string public description;
    uint80 public latestRound;
    mapping(uint80 roundId => Round) private _rounds;

    event AnswerUpdated(int256 indexed current, uint256 indexed roundId, uint256 updatedAt);

    error NoData();

    constructor(string memory description_, uint8 decimals_, int256 answer) {
        description = description_;
        decimals = decimals_;
        setAnswer(answer);
    }

    function setAnswer(int256 answer) public {
        setRound(answer, block.timestamp);
    }

    /// @notice A round that claims to be of another time, so that a stale feed can be tried.
    function setRound(int256 answer, uint256 updatedAt) public {
        _rounds[++latestRound] = Round(answer, updatedAt);
        emit AnswerUpdated(answer, latestRound, updatedAt);
    }

    function latestRoundData()
        external
        view
        returns (uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound)
    {
        return getRoundData(latestRound);
    }

    function getRoundData(
        uint80 id
    )
        public
        view
        returns (uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound)
    {
        Round storage round = _rounds[id];
        if (round.updatedAt == 0) revert NoData();
        return (id, round.answer, round.updatedAt, round.updatedAt, id);
    }
}
