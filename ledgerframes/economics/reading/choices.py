"""The names of the choices that move coin, as the ledger's models have them."""

from __future__ import annotations

from typing import Final

TRANSFER: Final = "AmuletRules_Transfer"
TRAFFIC: Final = "AmuletRules_BuyMemberTraffic"
PREAPPROVALS: Final = (
    "AmuletRules_CreateTransferPreapproval",
    "AmuletRules_CreateExternalPartySetupProposal",
    "TransferPreapproval_Renew",
)
SENDS: Final = ("TransferPreapproval_Send", "TransferPreapproval_SendV2")
#: What takes coins and coupons in and returns a summary.
PAYING: Final = (TRANSFER, TRAFFIC, *PREAPPROVALS, *SENDS)
TAP: Final = "AmuletRules_DevNet_Tap"
MINT: Final = "AmuletRules_Mint"
EXPIRIES: Final = (
    *("Amulet_Expire", "Amulet_ExpireV2"),
    *("LockedAmulet_ExpireAmulet", "LockedAmulet_ExpireAmuletV2"),
)
UNLOCKS: Final = (
    *("LockedAmulet_Unlock", "LockedAmulet_UnlockV2"),
    *("LockedAmulet_OwnerExpireLock", "LockedAmulet_OwnerExpireLockV2"),
)
#: A payment for a name collects a coin that is burned at once; other subscriptions collect one that stays.
COLLECTS: Final = ("SubscriptionInitialPayment_Collect", "SubscriptionPayment_Collect")
NAME_PAYMENTS: Final = (
    *("AnsEntryContext_CollectInitialEntryPayment", "AnsEntryContext_CollectEntryRenewalPayment"),
    *("AnsRules_CollectInitialEntryPayment", "AnsRules_CollectEntryRenewalPayment"),
    "AnsEntryContext_CollectRenewalEntryPayment",
)
#: Steps of the token standard, version 1.
TRANSFER_FACTORY: Final = "TransferFactory_Transfer"
INSTRUCTION_STEPS: Final = (
    *("TransferInstruction_Accept", "TransferInstruction_Reject"),
    *("TransferInstruction_Withdraw", "TransferInstruction_Update"),
)
ALLOCATE: Final = "AllocationFactory_Allocate"
ALLOCATION_STEPS: Final = ("Allocation_ExecuteTransfer", "Allocation_Cancel", "Allocation_Withdraw")
BURN_MINT: Final = "BurnMintFactory_BurnMint"
STANDARD: Final = (TRANSFER_FACTORY, *INSTRUCTION_STEPS, ALLOCATE, *ALLOCATION_STEPS, BURN_MINT)
HOLDINGS_CHANGE: Final = "EventLog_HoldingsChange"

#: Every choice of the coin's own rules that this version knows; the others are counted.
RULES_CHOICES: Final = (
    *PAYING, TAP, MINT, "Archive", *STANDARD, HOLDINGS_CHANGE,
    "AmuletRules_AddFutureAmuletConfigSchedule", "AmuletRules_AdvanceOpenMiningRounds",
    "AmuletRules_AllocateDevelopmentFundCoupon", "AmuletRules_Amulet_ExpireTransferInstructions",
    "AmuletRules_BootstrapExternalPartyConfigState", "AmuletRules_Bootstrap_Rounds", "AmuletRules_ClaimExpiredRewards",
    "AmuletRules_ComputeFees", "AmuletRules_ConvertFeaturedAppActivityMarkers", "AmuletRules_DevNet_FeatureApp",
    "AmuletRules_Fetch", "AmuletRules_MergeMemberTrafficContracts", "AmuletRules_MergeUnclaimedDevelopmentFundCoupons",
    "AmuletRules_MergeUnclaimedRewards", "AmuletRules_MiningRound_Archive", "AmuletRules_MiningRound_Close",
    "AmuletRules_MiningRound_StartIssuing", "AmuletRules_RemoveFutureAmuletConfigSchedule", "AmuletRules_SetConfig",
    "AmuletRules_UpdateExternalPartyConfigStates", "AmuletRules_UpdateFutureAmuletConfigSchedule",
    "TransferPreapproval_Cancel", "TransferPreapproval_Expire", "TransferPreapproval_Fetch",
    "ExternalPartyAmuletRules_CreateTransferCommand", "ExternalPartyAmuletRules_ExpireAmuletAllocations",
    "TransferFactory_PublicFetch", "AllocationFactory_PublicFetch",
    "ExternalPartySetupProposal_Accept", "ExternalPartySetupProposal_Reject", "ExternalPartySetupProposal_Withdraw",
    "TransferCommand_Send", "TransferCommand_Expire", "TransferCommand_Withdraw",
)  # fmt: skip
#: The templates whose choices move coin.
COIN_RULES: Final = (
    *("Splice.AmuletRules:AmuletRules", "Splice.AmuletRules:TransferPreapproval"),
    "Splice.ExternalPartyAmuletRules:ExternalPartyAmuletRules",
)
COIN_CHOICES: Final = (*EXPIRIES, *UNLOCKS, "Archive")
