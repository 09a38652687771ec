import { ofContract } from './mutation.js'

const CONTRACT = 'contracts/evm/src/CommunityPayments.sol'
const ENDS = 'if (outcomeOf[id] != Outcome.Held) return false;'
const PAYER = 'if (msg.sender != payment.payer) revert NotPayer(msg.sender, payment.payer);'

/** Broken builds of the payments contract, of signatures and of the token probe. */
export const PAYMENTS = [
  ...ofContract(
    CONTRACT,
    ['test/contracts/payments.test.ts'],
    [
      [
        'anybody refuses',
        'function refuse(Payment[] calldata payments) external override nonReentrant {\n        if (msg.sender != relayer) revert NotRelayer(msg.sender, relayer);',
        'function refuse(Payment[] calldata payments) external override nonReentrant {',
        'only the relayer refuses',
      ],
      [
        'anybody releases',
        'function release(Payment[] calldata payments) external override nonReentrant {\n        if (msg.sender != relayer) revert NotRelayer(msg.sender, relayer);',
        'function release(Payment[] calldata payments) external override nonReentrant {',
        'only the relayer refuses',
      ],
      ['a payment ends twice', ENDS, 'if (outcomeOf[id] == Outcome.None) return false;', 'whatever comes after'],
      [
        'a payment that was never made ends',
        ENDS,
        'if (outcomeOf[id] > Outcome.Held) return false;',
        'has an id of its own',
      ],
      [
        'an end is not kept',
        '        outcomeOf[id] = outcome;\n',
        '        if (outcome == Outcome.None) outcomeOf[id] = outcome;\n',
        'whatever comes after',
      ],
      [
        'a refused payment counts as released',
        '_end(id, Outcome.Refused, ',
        '_end(id, Outcome.Released, ',
        'late words',
      ],
      [
        'a refusal pays the recipient',
        'Outcome.Refused, payment, payment.payer)',
        'Outcome.Refused, payment, payment.recipient)',
        'refused:',
      ],
      [
        'a release pays the payer',
        'Outcome.Released, payment, payment.recipient)',
        'Outcome.Released, payment, payment.payer)',
        'released:',
      ],
      ['anybody reclaims', PAYER, '', 'reclaimed:'],
      [
        'a payment is reclaimed at once',
        'if (block.timestamp < payment.reclaimableAt)',
        'if (block.timestamp < 0)',
        'reclaimed:',
      ],
      [
        'a payment is reclaimed a second late',
        'if (block.timestamp < payment.reclaimableAt)',
        'if (block.timestamp <= payment.reclaimableAt)',
        'reclaimed:',
      ],
      [
        'any signature releases',
        'if (!Signatures.isSignedBy(relayer, digest, signature))',
        'if (digest == bytes32(signature.length))',
        'is for these payments',
      ],
      ['a word is good for other payments', 'keccak256(abi.encodePacked(ids))', 'bytes32(0)', 'is for these payments'],
      ['ids are told apart by no number', 'number: totals.payments,', 'number: 1,', 'has an id of its own'],
      ['payments are not counted', '        totals.payments += 1;\n', '', 'has an id of its own'],
      [
        'ids are told apart by no time',
        'reclaimableAt: uint64(block.timestamp) + reclaimSeconds,',
        'reclaimableAt: reclaimSeconds,',
        'reorganisation',
      ],
      [
        'the time to reclaim is not added',
        'uint64(block.timestamp) + reclaimSeconds',
        'uint64(block.timestamp)',
        'is held, told',
      ],
      [
        'an id is the same on every chain',
        'bytes32 paymentId = keccak256(abi.encode(payment, block.chainid, address(this)));',
        'bytes32 paymentId = keccak256(abi.encode(payment, address(this)));',
        'is held, told',
      ],
      [
        'a malformed community is taken',
        'if (!Names.isWellFormed(bid.communityName)) revert MalformedName(bid.communityName);',
        '',
        'is taken for a name',
      ],
      [
        'a malformed name is taken',
        'if (!Names.isWellFormed(bid.walletName)) revert MalformedName(bid.walletName);',
        '',
        'is taken for a name',
      ],
      ['nobody is paid', 'if (bid.paymentRecipient == address(0)) revert ZeroAddress();', '', 'is taken for a name'],
      ['nothing is paid', 'if (bid.amount == 0) revert ZeroAmount();', '', 'is taken for a name'],
      [
        'amounts are cut to 128 bits',
        'if (bid.amount > type(uint128).max) revert AmountTooLarge(bid.amount, type(uint128).max);',
        '',
        'is taken for a name',
      ],
      [
        'more than the amount is taken',
        'if (msg.value != value) revert',
        'if (msg.value < value) revert',
        'brings exactly',
      ],
      ['a pause stops nothing', 'nonReentrant whenNotPaused {', 'nonReentrant {', 'a pause stops'],
      [
        'the words of an old relayer stay good',
        '        relayer = relayer_;\n',
        '        if (relayer == address(0)) relayer = relayer_;\n',
        'ends with the role',
      ],
      [
        'anybody sets the relayer',
        'function setRelayer(address relayer_) external onlyOwner {',
        'function setRelayer(address relayer_) external {',
        'only the owner sets',
      ],
      ['payers may reclaim at once', 'reclaimSeconds_ < MIN_RECLAIM_SECONDS || ', '', 'payers wait'],
      ['payers wait for ever', ' || reclaimSeconds_ > MAX_RECLAIM_SECONDS', '', 'payers wait'],
      ['what is owed is not counted', '        totals.owed += uint128(bid.amount);\n', '', 'is held, told'],
      ['a payout stays owed', '        totalsOf[token].owed -= uint192(credit);\n', '', 'refused:'],
      ['a credit is paid twice', '        creditOf[account][token] = 0;\n', '', 'refused:'],
    ],
  ),
  ...ofContract(
    CONTRACT,
    ['test/contracts/payments-tokens.test.ts'],
    [
      [
        'a token that takes a fee is taken',
        'if (moved != amount) revert WrongTransfer(moved, amount);',
        'if (moved == 0) revert WrongTransfer(moved, amount);',
        'refused as payment',
      ],
      [
        'a token takes its fee from others',
        'if (moved == 0 || moved > amount)',
        'if (moved == 0)',
        'from what others are owed',
      ],
      ['a payout that moves nothing counts', 'if (moved == 0 || moved > amount)', 'if (moved > amount)', 'stays owed'],
      [
        'what a token rounds off is lost',
        '            creditOf[account][token] = credit - moved;\n',
        '',
        'rounds its transfers',
      ],
      [
        'what a token rounds off is owed to nobody',
        '            totalsOf[token].owed += uint192(credit - moved);\n',
        '',
        'rounds its transfers',
      ],
      [
        'a credit is paid to whoever asks for it',
        '_withdraw(account, token, account);',
        '_withdraw(account, token, msg.sender);',
        'can`t call',
      ],
      ['a credit is burnt', '        if (to == address(0)) revert ZeroAddress();\n', '', 'can`t call'],
      [
        'a token pays while it calls back',
        'function placeBid(BidRequest calldata bid) external payable override nonReentrant',
        'function placeBid(BidRequest calldata bid) external payable override',
        'calls back finds',
      ],
    ],
  ),
  ...ofContract(
    'contracts/evm/src/libraries/Signatures.sol',
    ['test/contracts/payments.test.ts', 'test/contracts/payments-tokens.test.ts'],
    [
      ['a signature is good on every chain', 'block.chainid', '0', 'is for these payments'],
      ['a signature is good for every contract', 'address(this)', 'address(0)', 'is for these payments'],
      ['whoever signs is the signer', '&& recovered == signer', '&& recovered != address(1)', 'is for these payments'],
      [
        'a contract never signs',
        'if (signer.code.length == 0) return false;',
        'if (signer.code.length > 0) return false;',
        'may be a contract',
      ],
    ],
  ),
  ...ofContract(
    'contracts/evm/src/TokenProbe.sol',
    ['test/communities/payments.test.ts'],
    [
      ['the token`s word comes first', 'return(0, 64)', 'return(32, 64)', 'count a token'],
      [
        'a short answer counts',
        'if lt(returndatasize(), 32) {\n                mstore(0, 0)\n            }',
        '',
        'count a token',
      ],
      [
        'what a token reverts with counts',
        'if iszero(mload(0)) {\n                mstore(32, 0)\n            }',
        '',
        'count a token',
      ],
    ],
  ),
]
