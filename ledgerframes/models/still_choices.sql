-- Choices of the coin's rules that move no coin by themselves.
select unnest([
  'Archive',
  'AmuletRules_AddFutureAmuletConfigSchedule', 'AmuletRules_AdvanceOpenMiningRounds',
  'AmuletRules_AllocateDevelopmentFundCoupon', 'AmuletRules_Amulet_ExpireTransferInstructions',
  'AmuletRules_BootstrapExternalPartyConfigState', 'AmuletRules_Bootstrap_Rounds', 'AmuletRules_ClaimExpiredRewards',
  'AmuletRules_ComputeFees', 'AmuletRules_ConvertFeaturedAppActivityMarkers', 'AmuletRules_DevNet_FeatureApp',
  'AmuletRules_Fetch', 'AmuletRules_MergeMemberTrafficContracts', 'AmuletRules_MergeUnclaimedDevelopmentFundCoupons',
  'AmuletRules_MergeUnclaimedRewards', 'AmuletRules_MiningRound_Archive', 'AmuletRules_MiningRound_Close',
  'AmuletRules_MiningRound_StartIssuing', 'AmuletRules_RemoveFutureAmuletConfigSchedule', 'AmuletRules_SetConfig',
  'AmuletRules_StartProcessingRewardsV2', 'AmuletRules_UpdateExternalPartyConfigStates', 'AmuletRules_UpdateFutureAmuletConfigSchedule',
  'TransferPreapproval_Cancel', 'TransferPreapproval_Expire', 'TransferPreapproval_Fetch',
  'ExternalPartyAmuletRules_CreateTransferCommand', 'ExternalPartyAmuletRules_ExpireAmuletAllocations',
  'TransferFactory_PublicFetch', 'AllocationFactory_PublicFetch',
  'ExternalPartySetupProposal_Accept', 'ExternalPartySetupProposal_Reject', 'ExternalPartySetupProposal_Withdraw',
  'TransferCommand_Send', 'TransferCommand_Expire', 'TransferCommand_Withdraw'
]) as choice
