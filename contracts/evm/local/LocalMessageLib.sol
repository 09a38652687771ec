// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {
    ILayerZeroEndpointV2,
    MessagingFee,
    Origin
} from "@layerzerolabs/lz-evm-protocol-v2/contracts/interfaces/ILayerZeroEndpointV2.sol";
import { IMessageLib, MessageLibType } from "@layerzerolabs/lz-evm-protocol-v2/contracts/interfaces/IMessageLib.sol";
import { Packet } from "@layerzerolabs/lz-evm-protocol-v2/contracts/interfaces/ISendLib.sol";
import { Ownable } from "@openzeppelin/contracts/access/Ownable.sol";
import { ERC165 } from "@openzeppelin/contracts/utils/introspection/ERC165.sol";
import { Math } from "@openzeppelin/contracts/utils/math/Math.sol";

/// @title The message library of local chains: sends for a fee that holds the delivered value, trusts one verifier
/// @notice LayerZero's own SimpleMessageLib quotes one fixed fee; here the fee is a base plus the value that the
///   options have delivered, at the price that the destination's gas token has in this chain's. For local worlds and
///   tests only: what comes in as fees stays here.
contract LocalMessageLib is Ownable, ERC165 {
    struct Price {
        /// Fee of a message that delivers no value, in this chain's wei.
        uint128 base;
        /// A destination wei costs numerator / denominator wei here.
        uint64 numerator;
        uint64 denominator;
    }

    event PriceSet(uint32 dstEid, Price price);
    event QuoteFailsSet(bool fails);

    error OnlyEndpoint(address caller);
    error OnlyVerifier(address caller);
    error NoPrice(uint32 dstEid);
    error QuoteUnavailable();
    error BadOptions();
    error BadPacket();

    uint8 private constant EXECUTOR = 1;
    uint8 private constant OPTION_LZ_RECEIVE = 1;
    uint8 private constant OPTION_NATIVE_DROP = 2;
    uint8 private constant PACKET_VERSION = 1;
    /// version 1 | nonce 8 | srcEid 4 | sender 32 | dstEid 4 | receiver 32 | guid 32 | message
    uint256 private constant PACKET_HEAD_BYTES = 113;

    ILayerZeroEndpointV2 public immutable endpoint;
    uint32 public immutable localEid;

    /// @notice Who says that a packet was sent on its chain.
    address public verifier;
    bool public quoteFails;
    mapping(uint32 dstEid => Price) public priceOf;

    constructor(address endpoint_, address owner_, address verifier_) Ownable(owner_) {
        endpoint = ILayerZeroEndpointV2(endpoint_);
        localEid = endpoint.eid();
        verifier = verifier_;
    }

    receive() external payable {}

    // ---- settings

    function setPrice(uint32 dstEid, Price calldata price) external onlyOwner {
        priceOf[dstEid] = price;
        emit PriceSet(dstEid, price);
    }

    /// @notice While set, neither quotes nor sends work.
    function setQuoteFails(bool fails) external onlyOwner {
        quoteFails = fails;
        emit QuoteFailsSet(fails);
    }

    function setVerifier(address verifier_) external onlyOwner {
        verifier = verifier_;
    }

    // ---- sending

    function quote(Packet calldata packet, bytes calldata options, bool) external view returns (MessagingFee memory) {
        return _fee(packet.dstEid, options);
    }

    function send(
        Packet calldata packet,
        bytes calldata options,
        bool
    ) external view returns (MessagingFee memory fee, bytes memory encodedPacket) {
        if (msg.sender != address(endpoint)) revert OnlyEndpoint(msg.sender);
        fee = _fee(packet.dstEid, options);
        encodedPacket = abi.encodePacked(
            PACKET_VERSION,
            packet.nonce,
            packet.srcEid,
            bytes32(uint256(uint160(packet.sender))),
            packet.dstEid,
            packet.receiver,
            packet.guid,
            packet.message
        );
    }

    function _fee(uint32 dstEid, bytes calldata options) private view returns (MessagingFee memory) {
        if (quoteFails) revert QuoteUnavailable();
        Price memory price = priceOf[dstEid];
        if (price.denominator == 0) revert NoPrice(dstEid);
        uint256 delivered = _deliveredValue(options);
        uint256 worth = Math.mulDiv(delivered, price.numerator, price.denominator, Math.Rounding.Ceil);
        return MessagingFee(price.base + worth, 0);
    }

    /// The destination wei that type-3 options ask for, in lzReceive and native drop options.
    function _deliveredValue(bytes calldata options) private pure returns (uint256 value) {
        if (options.length < 2 || uint16(bytes2(options[0:2])) != 3) revert BadOptions();
        uint256 cursor = 2;
        while (cursor < options.length) {
            if (options.length - cursor < 4) revert BadOptions();
            uint256 end = cursor + 3 + uint16(bytes2(options[cursor + 1:cursor + 3]));
            if (end < cursor + 4 || end > options.length) revert BadOptions();
            if (uint8(options[cursor]) == EXECUTOR)
                value += _valueOf(uint8(options[cursor + 3]), options[cursor + 4:end]);
            cursor = end;
        }
    }

    function _valueOf(uint8 kind, bytes calldata option) private pure returns (uint256) {
        if (kind == OPTION_LZ_RECEIVE) {
            if (option.length == 16) return 0;
            if (option.length == 32) return uint128(bytes16(option[16:32]));
            revert BadOptions();
        }
        if (kind == OPTION_NATIVE_DROP) {
            if (option.length == 48) return uint128(bytes16(option[0:16]));
            revert BadOptions();
        }
        return 0;
    }

    // ---- receiving

    /// @notice Reports to the endpoint that this packet was sent, as PacketSent of the source chain gave it.
    function validatePacket(bytes calldata packet) external {
        if (msg.sender != verifier) revert OnlyVerifier(msg.sender);
        if (packet.length < PACKET_HEAD_BYTES || uint8(packet[0]) != PACKET_VERSION) revert BadPacket();
        if (uint32(bytes4(packet[45:49])) != localEid) revert BadPacket();
        Origin memory origin = Origin({
            srcEid: uint32(bytes4(packet[9:13])),
            sender: bytes32(packet[13:45]),
            nonce: uint64(bytes8(packet[1:9]))
        });
        address receiver = address(uint160(uint256(bytes32(packet[49:81]))));
        endpoint.verify(origin, receiver, keccak256(packet[81:]));
    }

    // ---- what the endpoint asks of a library

    function isSupportedEid(uint32) external pure returns (bool) {
        return true;
    }

    function version() external pure returns (uint64 major, uint8 minor, uint8 endpointVersion) {
        return (0, 0, 2);
    }

    function messageLibType() external pure returns (MessageLibType) {
        return MessageLibType.SendAndReceive;
    }

    function supportsInterface(bytes4 interfaceId) public view override returns (bool) {
        return interfaceId == type(IMessageLib).interfaceId || super.supportsInterface(interfaceId);
    }
}
