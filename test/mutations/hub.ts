/** Broken builds of the hub, the spoke and what they are made of. */
import { ofContract } from './mutation.js'

const FILES = {
  hub: 'test/contracts/hub.test.ts',
  deliver: 'test/contracts/hub-deliver.test.ts',
  receive: 'test/contracts/hub-receive.test.ts',
  withdrawals: 'test/contracts/hub-withdrawals.test.ts',
  spoke: 'test/contracts/spoke.test.ts',
  names: 'test/contracts/names.test.ts',
}
const changes = (source: string, test: keyof typeof FILES, list: Parameters<typeof ofContract>[2]) =>
  ofContract(`contracts/evm/src/${source}.sol`, [FILES[test]], list)

const WRONG_VALUE = '        if (msg.value != sum) revert WrongValue(msg.value, sum);\n'
const ANY_VALUE = '        if (false) revert WrongValue(msg.value, sum);\n'

export const HUB_AND_SPOKE = [
  ...changes('Hub', 'hub', [
    [
      'a direct bid that comes second is not credited',
      'if (!_place(from, msg.value, name, referral)) _credit(HERE, from, msg.value);',
      '_place(from, msg.value, name, referral);',
    ],
    ['lost bids of a batch are not credited', '        _credit(HERE, from, lost);\n', ''],
    ['a batch may bring any value', `${WRONG_VALUE}        bytes32 from`, `${ANY_VALUE}        bytes32 from`],
    ['a credit is paid to whoever asks for it', '_withdraw(account, account);', '_withdraw(account, msg.sender);'],
    ['what is owed counts as kept', 'return address(this).balance - owed;', 'return address(this).balance;'],
    [
      'anybody withdraws what is kept',
      'function withdrawKept(address to) external override onlyOwner {',
      'function withdrawKept(address to) external override {',
    ],
    ['the sum of what is owed never falls', '        owed -= amount;\n', ''],
    [
      'a withdrawal may go to nobody',
      '        if (to == address(0)) revert ZeroAddress();\n        _withdraw',
      '        _withdraw',
    ],
    [
      'a direct bid is placed while paused',
      'bytes32 referral) private whenNotPaused {\n        bytes32 from',
      'bytes32 referral) private {\n        bytes32 from',
    ],
    [
      'a batch is placed while paused',
      'private whenNotPaused {\n        uint256 sum',
      'private {\n        uint256 sum',
    ],
  ]),
  ...changes('Hub', 'hub', [
    ['the last bid owns a name', 'hasWon = ownerOf[name] == bytes32(0);', 'hasWon = true;'],
    ['a direct bid is not judged', '        _requireSound(msg.value, name, minimum());\n', ''],
    [
      'a bid of a batch is not judged',
      '_requireSound(amounts[i], names[i], least);',
      '_requireSound(least, names[i], least);',
    ],
    ['a batch may have fewer names than amounts', '!ok || amounts.length != names.length', '!ok'],
  ]),
  ...changes('Hub', 'deliver', [
    ['a payment is delivered twice', '        if (bits & bit != 0) return 0;\n', ''],
    [
      'a delivery forgets those beside it',
      '_delivered[source][index] = bits | bit;',
      '_delivered[source][index] = bit;',
    ],
    ['two sequences share a bit', '1 << (sequence & 0xff)', '1 << (sequence & 0x7f)'],
    [
      'sequences of all sources are one',
      'uint256 bits = _delivered[source][index];',
      'uint256 bits = _delivered[0][index];',
    ],
    ['a delivery has another id', 'abi.encodePacked(source, sequence)', 'abi.encode(source, sequence)'],
  ]),
  ...changes('Hub', 'deliver', [
    ['anybody delivers', '        if (msg.sender != relayer) revert NotRelayer(msg.sender, relayer);\n', ''],
    [
      'deliveries go on while paused',
      'deliveries) external override whenNotPaused {',
      'deliveries) external override {',
    ],
    ['a delivery may name nobody', '        if (from == bytes32(0)) revert ZeroSender(source, sequence);\n', ''],
    ['the limit is one of a payment', 'won > limit - today', 'won > limit'],
    ['what was won on a day is forgotten', '        if (today != before) deliveredOn[day] = today;\n', ''],
    [
      'lost bids use the day up',
      'won = sum - _judgeAll(from, delivery.amounts, delivery.names, delivery.referral);',
      '_judgeAll(from, delivery.amounts, delivery.names, delivery.referral);\n        won = sum;',
    ],
    [
      'delivered bids that lose are credited',
      '        won = sum - _judgeAll',
      '        _credit(HERE, from, sum);\n        won = sum - _judgeAll',
    ],
  ]),
  ...changes('Hub', 'receive', [
    ['whoever executes a message chooses its value', `${WRONG_VALUE}        _credit`, `${ANY_VALUE}        _credit`],
    [
      'a message may name nobody',
      'from == bytes32(0) || kind == HubMessage.Kind.Unknown',
      'kind == HubMessage.Kind.Unknown',
    ],
    ["nobody's money is owed for ever", 'if (from != bytes32(0)) _credit', '_credit'],
    ['a refused message is not credited', '        if (from != bytes32(0)) _credit(eid, from, msg.value);\n', ''],
    [
      'a pause stops every message',
      '        bytes calldata\n    ) internal override {',
      '        bytes calldata\n    ) internal override whenNotPaused {',
      'while the hub is paused',
    ],
  ]),
  ...changes('Hub', 'receive', [
    [
      'a paused hub gives names away',
      'isPaused ? RefusalReason.Paused : RefusalReason.None',
      'isPaused ? RefusalReason.None : RefusalReason.None',
    ],
    ['a bridged bid of the minimum is refused', 'if (amount < least)', 'if (amount <= least)'],
    ['a bridged name may be malformed', 'if (!Names.isWellFormed(name)) return', 'if (name == bytes32(0)) return'],
  ]),
  ...changes('Hub', 'withdrawals', [
    ['credits of all chains are one', '_credit(eid, from, _judgeAll(', '_credit(HERE, from, _judgeAll('],
    [
      'a message withdraws what is owed for direct calls',
      'uint256 amount = refundOf[eid][from];',
      'uint256 amount = refundOf[HERE][from];',
    ],
    ['a credit is paid again and again', '        refundOf[eid][from] = 0;\n', ''],
    ['a payment that fails counts as made', '        if (!isPaid) revert PaymentFailed(to, amount);\n', ''],
    [
      'money leaves before the last log',
      '        emit Received(guid, from, 0);\n        if (amount != 0) _pay(to, amount);',
      '        if (amount != 0) _pay(to, amount);\n        emit Received(guid, from, 0);',
    ],
    ['a receiver gets no more gas than a transfer', 'call(gas(), to', 'call(0, to'],
  ]),
  ...changes('Minimum', 'hub', [
    [
      'a minimum loses its high bits',
      '        if (minimum_ > type(uint88).max) revert MinimumTooHigh(minimum_, type(uint88).max);\n',
      '',
    ],
    ['anybody sets the minimum', 'external override onlyOwner {', 'external override {'],
  ]),
  ...changes('Roles', 'hub', [
    [
      'anybody pauses',
      '        if (msg.sender != pauser && msg.sender != owner()) revert NotPauser(msg.sender, pauser);\n',
      '',
    ],
    [
      'anybody lets a paused contract go on',
      'function unpause() external onlyOwner {',
      'function unpause() external {',
    ],
    ['the ownership can be given up', '        revert OwnerRequired();\n', '        this;\n'],
  ]),
  ...changes('Guarded', 'hub', [
    ['a former owner stays the delegate at the endpoint', '        endpoint.setDelegate(msg.sender);\n', ''],
  ]),
  ...changes('libraries/HubMessage', 'receive', [
    ['a sum wraps', '            if (next < sum) return (false, 0);\n', ''],
    ['a message may have 101 bids', 'count > MAX_BIDS', 'count > MAX_BIDS + 1'],
    ['an array may begin behind the data', 'offset > data.length - 32', 'offset > data.length'],
    [
      'an array may end a word behind the data',
      'length <= (data.length - start) / elementSize',
      'length <= (data.length - start) / elementSize + 1',
    ],
    ['a withdrawal to nobody is no refused message', 'word != 0 && word >> 160 == 0', 'word >> 160 == 0'],
    ['a withdrawal may name more than an address', 'word != 0 && word >> 160 == 0', 'word != 0'],
  ]),
  ...changes('libraries/Names', 'names', [
    ['bytes beyond ASCII are taken for letters', 'word & FLAGS != 0 || word >> 248 == 0', 'word >> 248 == 0'],
    ['a name may be empty', 'word & FLAGS != 0 || word >> 248 == 0', 'word & FLAGS != 0'],
    ['a colon is a digit', '0x80 - 0x3a', '0x80 - 0x3b'],
    ['a slash is a digit', '0x80 - 0x30', '0x80 - 0x2f'],
    ['a brace is a letter', '0x80 - 0x7b', '0x80 - 0x7c'],
    [
      'letters may follow a zero',
      'inAlphabet == notZero && ((notZero ^ FLAGS) >> 8) & notZero == 0',
      'inAlphabet == notZero',
    ],
  ]),
  ...changes('Spoke', 'spoke', [
    ['a pause of the spoke stops no bids', '        _requireNotPaused();\n', ''],
    [
      'a pause of the spoke stops withdrawals',
      '            (bool readable, ) = ',
      '            _requireNotPaused();\n            (bool readable, ) = ',
    ],
    ['options may bring another value than the sum', 'if (value != sum) revert', 'if (value > sum) revert'],
    ['options may bring too little gas', 'if (gasLimit < gasNeeded) revert', 'if (gasLimit < gasNeeded / 2) revert'],
    ['names need no gas', 'gasNeeds.bidsBase + gasNeeds.perName * names.length', 'gasNeeds.bidsBase'],
    ['any options are sent', '        if (!ok) revert BadOptions(options);\n', ''],
    [
      'bids leave the spoke unjudged',
      '_requireSound(amounts[i], names[i], least);',
      '_requireSound(least, names[i], least);',
    ],
    ['a message that the hub cannot read leaves the spoke', '        _requireKnown(ok, hubCalldata);\n', ''],
    [
      'messages leave in the name of the spoke',
      'bytes32(uint256(uint160(msg.sender)))',
      'bytes32(uint256(uint160(address(this))))',
    ],
  ]),
]
