import { ofContract } from './mutation.js'

/** Broken builds of the airdrop distributor. */
export const DISTRIBUTOR = [
  ...ofContract(
    'contracts/evm/src/AirdropDistributor.sol',
    ['test/contracts/distributor.test.ts'],
    [
      ['a claim is not marked', '_claimed.set(index);', ''],
      [
        'a claim is marked after its tokens left',
        '        _claimed.set(index);\n        emit Claimed(index, account, amount, to);\n        token.safeTransfer(to, amount);',
        '        emit Claimed(index, account, amount, to);\n        token.safeTransfer(to, amount);\n        _claimed.set(index);',
      ],
      ['a proof is not checked', 'if (!MerkleProof.verifyCalldata(proof, merkleRoot, leaf)) revert BadProof();', ''],
      [
        'a leaf is hashed once',
        'keccak256(bytes.concat(keccak256(abi.encode(index, account, amount))))',
        'keccak256(abi.encode(index, account, amount))',
      ],
      ['the end of claims is not kept', 'if (block.timestamp >= endsAt) revert Ended(endsAt);', ''],
      [
        'the end of claims comes a second late',
        'if (block.timestamp >= endsAt) revert',
        'if (block.timestamp > endsAt) revert',
      ],
      ['tokens are swept before the end', 'if (block.timestamp < endsAt) revert NotEnded(endsAt);', ''],
      [
        'anybody sweeps',
        'function sweep(address to) external override onlyOwner',
        'function sweep(address to) external override',
      ],
      [
        'tokens are swept to nobody',
        '        if (to == address(0)) revert ZeroAddress();\n        uint256 amount',
        '        uint256 amount',
      ],
      [
        'an allocation is claimed to nobody',
        '        if (to == address(0)) revert ZeroAddress();\n        if (_claimed',
        '        if (_claimed',
      ],
      [
        'anybody claims for an EVM account',
        'if (account != bytes32(uint256(uint160(msg.sender)))) revert NotAccount(msg.sender, account);',
        '',
      ],
      [
        'the upper bytes of an account are ignored',
        'if (account != bytes32(uint256(uint160(msg.sender)))) revert',
        'if (address(uint160(uint256(account))) != msg.sender) revert',
      ],
      ['a permission is good for ever', 'if (block.timestamp > deadline) revert PermissionExpired(deadline);', ''],
      [
        'a permission ends a second early',
        'if (block.timestamp > deadline) revert',
        'if (block.timestamp >= deadline) revert',
      ],
      [
        'a permission is not checked',
        'if (!Signatures.isSignedBy(signer, Signatures.digestOf(DOMAIN_NAME, permission), signature))',
        'if (signature.length == 0)',
      ],
      ['the operator signs for EVM accounts', 'isEvm ? address(uint160(uint256(account))) : operator', 'operator'],
      [
        'a permission names no index',
        'abi.encode(PERMISSION_TYPEHASH, index, account, to, deadline)',
        'abi.encode(PERMISSION_TYPEHASH, uint256(0), account, to, deadline)',
      ],
      [
        'a permission names no account',
        'abi.encode(PERMISSION_TYPEHASH, index, account, to, deadline)',
        'abi.encode(PERMISSION_TYPEHASH, index, bytes32(0), to, deadline)',
      ],
      [
        'a permission names no receiver',
        'abi.encode(PERMISSION_TYPEHASH, index, account, to, deadline)',
        'abi.encode(PERMISSION_TYPEHASH, index, account, address(0), deadline)',
      ],
      [
        'a permission names no deadline',
        'abi.encode(PERMISSION_TYPEHASH, index, account, to, deadline)',
        'abi.encode(PERMISSION_TYPEHASH, index, account, to, uint256(0))',
      ],
      ['the end may be in the past', 'if (endsAt_ <= block.timestamp) revert Ended(endsAt_);', ''],
      ['the end may be any time away', 'if (endsAt_ > latest) revert EndsTooLate(endsAt_, latest);', ''],
      [
        'anybody names the operator',
        'function setOperator(address operator_) external override onlyOwner',
        'function setOperator(address operator_) external override',
      ],
      [
        'the owner gives the role up',
        '        revert OwnerRequired();',
        '        if (owner() == address(0)) revert OwnerRequired();',
      ],
    ],
  ),
  ...ofContract(
    'contracts/evm/src/libraries/Signatures.sol',
    ['test/contracts/distributor.test.ts'],
    [
      [
        'a faulty signature recovers nobody, and nobody is the operator',
        'if (fault == ECDSA.RecoverError.NoError && recovered == signer) return true;',
        'if (recovered == signer) return true;',
      ],
      [
        'contract wallets are not asked',
        'return ok && answer.length >= 32',
        'return false && ok && answer.length >= 32',
      ],
      ['a contract wallet that reverts has signed', 'return ok && answer.length >= 32 && ', 'return !ok || '],
      [
        'whatever a contract wallet answers is a yes',
        ' && bytes32(answer) == bytes32(IERC1271.isValidSignature.selector)',
        '',
      ],
      ['a short answer of a contract wallet is a yes', 'answer.length >= 32 && bytes32(answer)', 'bytes32(answer)'],
    ],
  ),
]
