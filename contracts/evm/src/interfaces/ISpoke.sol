// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {
    MessagingFee,
    MessagingReceipt
} from "@layerzerolabs/lz-evm-protocol-v2/contracts/interfaces/ILayerZeroEndpointV2.sol";
import { IMinimum } from "./IMinimum.sol";

/// @title A spoke: sends bids, and withdrawals of refunds, to the hub on another chain
/// @notice A message to the hub is `abi.encode(bytes32 sender, bytes hubCalldata)`. Everything is checked before money
/// leaves: on the hub a fault can only be credited, here nothing is lost. The spoke holds no money. A pause stops bids;
/// withdrawals go on.
interface ISpoke is IMinimum {
    /// Gas that a message has to bring for the hub's endpoint and the hub together.
    /// @param bidsBase for bids, however many
    /// @param perName for each bid
    /// @param withdrawal for a withdrawal, whose receiver gets what is left of it
    struct GasNeeds {
        uint64 bidsBase;
        uint64 perName;
        uint64 withdrawal;
    }

    /// @notice A message left for the hub; the endpoint's PacketSent stands in the same transaction.
    /// @param guid of the message
    /// @param from its sender, an address left-padded
    event Sent(bytes32 indexed guid, bytes32 indexed from);

    /// @notice The gas that messages have to bring changed.
    /// @param bidsBase for bids, however many
    /// @param perName for each bid
    /// @param withdrawal for a withdrawal
    event GasNeedsSet(uint64 bidsBase, uint64 perName, uint64 withdrawal);

    /// @notice Neither form of `placeBids`, rightly encoded with 1 to 100 names, nor `withdrawRefund(address)` to
    /// somebody.
    /// @param selector of the call; zero if it has none
    error UnknownCall(bytes4 selector);

    /// @notice Not one type-3 lzReceive option alone.
    /// @param options as they came
    error BadOptions(bytes options);

    /// @notice The value that the option asks for is not the sum of the amounts (zero for a withdrawal).
    /// @param value of the option, wei on the hub
    /// @param sum of the amounts, wei on the hub
    error WrongOptionValue(uint256 value, uint256 sum);

    /// @notice The option brings too little gas.
    /// @param gasLimit of the option
    /// @param needed least gas
    error TooLittleGas(uint256 gasLimit, uint256 needed);

    /// @notice Sends hub calldata in the caller's name; msg.value is at least the quoted fee, and the endpoint pays
    /// back what it does not need.
    /// @param calldata_ `placeBids` in either form, or `withdrawRefund(address)`
    /// @param options one lzReceive option: its value the sum of the amounts (zero for a withdrawal), its gas at least
    /// the value of `gasNeeds`
    /// @return receipt of LayerZero's endpoint
    function lzSend(
        bytes calldata calldata_,
        bytes calldata options
    ) external payable returns (MessagingReceipt memory receipt);

    /// @notice Sets the gas that messages have to bring; only for the owner.
    /// @param needs for bids and withdrawals
    function setGasNeeds(GasNeeds calldata needs) external;

    /// @notice What the bridge takes for a message. Checks neither message nor options: the quote of a message without
    /// its value is asked for too, to tell fee from value.
    /// @param message abi.encode(bytes32 sender, bytes hubCalldata)
    /// @param options as for `lzSend`
    /// @return fee in this chain's gas token
    function quote(bytes calldata message, bytes calldata options) external view returns (MessagingFee memory fee);

    /// @notice The gas that messages have to bring.
    /// @return bidsBase for bids, however many
    /// @return perName for each bid
    /// @return withdrawal for a withdrawal
    function gasNeeds() external view returns (uint64 bidsBase, uint64 perName, uint64 withdrawal);

    /// @notice LayerZero's endpoint id of the hub's chain.
    /// @return as given at deployment
    function hubEid() external view returns (uint32);
}
