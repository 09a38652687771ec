// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import { ERC20 } from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// @title A token of a local world: anybody mints as much as they like
contract LocalToken is ERC20 {
    constructor() ERC20("Local token", "LOCAL") {}

    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }
}
