// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title LayerZero options that hold one lzReceive option and nothing else
/// @notice Type 3: `uint16 3 | uint8 1 (executor) | uint16 size | uint8 1 (lzReceive) | uint128 gas [| uint128 value]`,
/// as LayerZero's OptionsBuilder writes it; without its value the option asks for none. Whatever else options may ask
/// for (a native drop, a composed call) has no meaning for a message to the hub.
library ReceiveOptions {
    uint48 private constant HEAD_WITHOUT_VALUE = 0x000301001101;
    uint48 private constant HEAD_WITH_VALUE = 0x000301002101;

    /// @notice Gas and value of the one option.
    /// @param options as given to LayerZero's endpoint
    /// @return ok false if these are other options
    /// @return gasLimit gas that the executor gives to the receiving call
    /// @return value wei that the executor sends with it
    function read(bytes calldata options) internal pure returns (bool ok, uint256 gasLimit, uint256 value) {
        if (options.length != 22 && options.length != 38) return (false, 0, 0);
        bool withValue = options.length == 38;
        ok = uint48(bytes6(options[0:6])) == (withValue ? HEAD_WITH_VALUE : HEAD_WITHOUT_VALUE);
        gasLimit = uint128(bytes16(options[6:22]));
        if (withValue) value = uint128(bytes16(options[22:38]));
    }
}
