"""Tables of transfers, purchases, minting and burning, computed from events by `ledgerframes.models`."""

from __future__ import annotations

from typing import Final

from ledgerframes.tables.kinds import AMOUNT, INT64, JSON, TEXT, TIME
from ledgerframes.tables.table import Column, computed

_EVENT: Final = (
    Column("update_id", TEXT, "Id of the update.", source="update_id of the exercise"),
    Column("event_id", TEXT, "Id of the exercise.", source="event_id of the exercise"),
    Column("record_time", TIME, "When the update was recorded; null in transactions of the ledger interface.", True,
           source="record_time of the exercise"),
)  # fmt: skip
_META: Final = "splice.lfdecentralizedtrust.org/"

TRANSFERS: Final = computed(
    "transfers",
    "One row per output of a coin transfer.",
    ("update_id", "event_id", "output_index"),
    (
        *_EVENT,
        Column("output_index", INT64, "Which output of the transfer it is, from 0.", source="place in the outputs"),
        Column("round", INT64, "Round that the transfer used; null where the result states none.", True, "rounds",
               "/exercise_result/round/number"),
        Column("sender", TEXT, "Party that pays; null where its instruction lies outside the events.", True,
               source="/payload/transfer/sender"),
        Column("provider", TEXT, "Party of the application that made the transfer.", True,
               source="/payload/transfer/provider"),
        Column("receiver", TEXT, "Party that receives.", True, source="/payload/transfer/outputs/*/receiver"),
        Column("amount", AMOUNT, "Coin sent, before the receiver's part of the fee.", True, "coin",
               "/payload/transfer/outputs/*/amount"),
        Column("amount_usd", AMOUNT, "The same in USD at the round's price; null if the transfer states none.", True,
               "USD", "amount times /exercise_result/summary/amuletPrice, rounded half even to 10 places"),
        Column("receiver_fee_ratio", AMOUNT, "Part of the output's fee that the receiver pays, 1 being all.", True,
               source="/payload/transfer/outputs/*/receiverFeeRatio"),
        Column("lock", JSON, "The lock of the output; null if it is not locked.", True,
               source="/payload/transfer/outputs/*/lock"),
        Column("sender_fees", AMOUNT, "Fees that the sender pays: its part of the output's fee, and with the first"
               " output the holding fees and the fee of the change; null where there is no summary.", True, "coin",
               "/exercise_result/summary: outputFees, holdingFees, senderChangeFee"),
        Column("kind", TEXT, "transfer, self, merge-split, unlock, burn, mint or expire-dust.",
               source=f"{_META}tx-kind of the merged metas; self where sender and receiver are one party"),
        Column("reason", TEXT, "The reason that the sender gave.", True,
               source=f"{_META}reason of the merged metas, else /payload/description"),
    ),
)  # fmt: skip

TOKEN_TRANSFERS: Final = computed(
    "token_transfers",
    "One row per leg of a token-standard transfer, allocation, mint or burn, of any instrument.",
    ("update_id", "event_id", "leg"),
    (
        *_EVENT,
        Column("leg", INT64, "Which leg of the exercise it is, from 0.", source="place in the legs"),
        Column("instrument_admin", TEXT, "Party that administers the instrument.", True,
               source="instrumentId/admin of the leg, or /payload/admin"),
        Column("instrument_id", TEXT, "Id of the instrument, assigned by its administrator.", True,
               source="instrumentId of the leg"),
        Column("sender", TEXT, "Party that sends; null for a mint.", True, source="sender of the leg"),
        Column("receiver", TEXT, "Party that receives; null for a burn.", True, source="receiver of the leg"),
        Column("amount", AMOUNT, "The amount; null where the instruction or the allocation lies outside the events.",
               True, "units of the instrument", "amount of the leg"),
        Column("kind", TEXT, "transfer, merge-split, mint, burn, unlock or expire-dust.",
               source=f"{_META}tx-kind of the merged metas, else the choice"),
        Column("step", TEXT, "Result of the exercise: pending, completed, failed, allocated or reported.",
               source="tag of /exercise_result/output, else the choice"),
        Column("reason", TEXT, "The reason that was given.", True, source=f"{_META}reason of the merged metas"),
    ),
)  # fmt: skip

TRAFFIC_PURCHASES: Final = computed(
    "traffic_purchases",
    "One row per purchase of traffic.",
    ("update_id", "event_id"),
    (
        *_EVENT,
        Column("provider", TEXT, "Party that pays.", source="/payload/provider"),
        Column("member_id", TEXT, "Member that the traffic is for.", source="/payload/memberId"),
        Column("synchronizer_id", TEXT, "Synchronizer that the traffic is on.", source="/payload/synchronizerId"),
        Column("migration_id", INT64, "Migration that the traffic is for.", source="/payload/migrationId"),
        Column("bytes", INT64, "Traffic bought.", unit="bytes", source="/payload/trafficAmount"),
        Column("amount", AMOUNT, "Coin paid for it, fees of outputs included.", True, "coin",
               "/exercise_result/amuletPaid"),
        Column("amount_usd", AMOUNT, "The same at the price of the round.", True, "USD",
               "amount times /exercise_result/summary/amuletPrice, rounded half even to 10 places"),
        Column("round", INT64, "Round that the purchase used.", True, "rounds", "/exercise_result/round/number"),
    ),
)  # fmt: skip


def _minted(kind: str, words: str, source: str) -> Column:
    return Column(f"minted_{kind}", AMOUNT, f"Coin minted {words}.", unit="coin", source=source)


_INPUT: Final = "/exercise_result/summary/"
MINTED: Final = (
    _minted("app", "from application rewards", f"{_INPUT}inputAppRewardAmount"),
    _minted("app_or_validator", "from coupons of the second version whose kind is not known, and from those of"
            " applications in the same payment", f"{_INPUT}inputAppRewardAmount where a create lies before the events"),
    _minted("validator", "from validator rewards, without faucets",
            f"{_INPUT}inputValidatorRewardAmount less inputValidatorFaucetAmount, which it contains; and"
            " validators' RewardCouponV2, which inputAppRewardAmount contains"),
    _minted("validator_faucet", "from validator faucets and liveness records", f"{_INPUT}inputValidatorFaucetAmount"),
    _minted("sv", "from super validator rewards", f"{_INPUT}inputSvRewardAmount"),
    _minted("unclaimed_activity", "from unclaimed activity records", f"{_INPUT}inputUnclaimedActivityRecordAmount"),
    _minted("development_fund", "from coupons of the development fund", f"{_INPUT}inputDevelopmentFundAmount"),
    _minted("tap", "by a tap, on test networks", "the coin that AmuletRules_DevNet_Tap created"),
    _minted("other", "by AmuletRules_Mint", "the coin that AmuletRules_Mint created"),
)  # fmt: skip
BURNED: Final = (
    Column("burned_traffic", AMOUNT, "Coin paid for traffic.", True, "coin",
           "/exercise_result/amuletPaid of AmuletRules_BuyMemberTraffic"),
    Column("burned_names", AMOUNT, "Coin paid for names.", True, "coin",
           "the coin that SubscriptionInitialPayment_Collect or SubscriptionPayment_Collect returns below Splice.Ans"),
    Column("burned_preapprovals", AMOUNT, "Coin paid for transfer preapprovals.", True, "coin",
           "/exercise_result/amuletPaid of AmuletRules_CreateTransferPreapproval,"
           " AmuletRules_CreateExternalPartySetupProposal and TransferPreapproval_Renew"),
    Column("burned_fees", AMOUNT, "Fees of transfers and purchases.", True, "coin",
           f"{_INPUT}holdingFees, senderChangeFee and, but for traffic, outputFees;"
           f" {_META}burned of the result's meta where a token-standard choice has no summary"),
    Column("burned_expiry", AMOUNT, "Coin that expired.", True, "coin",
           "the coin that Amulet_Expire or LockedAmulet_ExpireAmulet, or their V2, consumed"),
)  # fmt: skip

MINT_BURN: Final = computed(
    "mint_burn",
    "One row per update that creates, ends, mints or burns coin; null means unknown, never 0.",
    ("update_id",),
    (
        Column("update_id", TEXT, "Id of the update.", source="update_id of its events"),
        Column("record_time", TIME, "When the synchronizer sequenced the update.", source="record_time of its events"),
        Column("round", INT64, "Round that it used; null where no result states one.", True, "rounds",
               "/exercise_result/round/number, or /exercise_result/amuletSum/round or expireSum/round"),
        Column("amulet_price_usd", AMOUNT, "Price of the coin, as the update's first payment states it; null where"
               " none does.", True, "USD per coin", f"{_INPUT}amuletPrice"),
        *MINTED,
        *BURNED,
        Column("net_change", AMOUNT, "Coin created less coin ended, locked or not; null if the amount of an ended coin"
               " is not known.", True, "coin", "creates and consuming exercises of Amulet and LockedAmulet"),
        Column("unexplained", AMOUNT, "net_change less minted plus burned: 0 if the update is understood.", True,
               "coin", "net_change - minted + burned"),
        Column("inputs_from", TEXT, "Origin of the amounts of ended coins: creates, summary or unknown.",
               source="creates in the events or opening, else inputAmuletAmount of the summary"),
    ),
)  # fmt: skip

MOVEMENTS: Final = computed(
    "movements",
    "One row per entry in a party's account of coin: what an update added or removed, and why.",
    ("update_id", "entry"),
    (
        Column("update_id", TEXT, "Id of the update.", source="update_id of its events"),
        Column("entry", INT64, "Number of the entry in the update, from 0.", source="order of its exercises"),
        Column("record_time", TIME, "When the synchronizer sequenced the update.", source="record_time of its events"),
        Column("party", TEXT, "Whose entry it is; null of an ended coin whose create is not known.", True,
               source="owner of the coin, sender or receiver"),
        Column("kind", TEXT, "transfer_in, transfer_out, a column of mint_burn such as minted_app or burned_fees, lock,"
               " unlock, merge, assigned (shown by an assignment alone) or unknown.", source="coins and exercises"),
        Column("counterparty", TEXT, "The other party of a transfer.", True, source="sender or receiver"),
        Column("round", INT64, "Round that it used; null where no result states one.", True, "rounds",
               "round of the payment"),
        Column("amount", AMOUNT, "Coin that the party received, or, below 0, gave; null is not known.", True, "coin",
               "transfers, and what mint_burn is the sum of"),
        Column("amount_usd", AMOUNT, "The same at the price of the round.", True, "USD",
               "amount times the price that the payment states, else the round"),
        Column("locked_change", AMOUNT, "Coin that became locked, or, below 0, was unlocked.", True, "coin",
               "creates and ends of LockedAmulet"),
        Column("balance_after", AMOUNT, "Coin that the party holds after it, locked or not; null where the coin held"
               " before is not known.", True, "coin", "the opening, and amount of all its entries so far"),
        Column("reason", TEXT, "The reason that a sender gave.", True, source="reason of transfers"),
    ),
)  # fmt: skip

TABLES: Final = (TRANSFERS, TOKEN_TRANSFERS, TRAFFIC_PURCHASES, MINT_BURN, MOVEMENTS)
