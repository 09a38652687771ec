// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import { IRecord } from "./interfaces/IRecord.sol";

/// @title A contract that keeps a checksum of its own logs
/// @notice IRecord has the rule.
abstract contract Record is IRecord {
    /// @inheritdoc IRecord
    bytes32 public override recordHash;
}
