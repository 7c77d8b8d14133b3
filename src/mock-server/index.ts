export type { PlanName } from '../generated/service.ts';
export type { Fetch } from './adapters/fetch.ts';
export type { InterceptionOptions, OnUnhandledRequest } from './adapters/interception.ts';
export type { TlsOptions } from './adapters/tls-server.ts';
export {
  type BehaviourCase,
  type BehaviourOptions,
  behaviourMatrix,
  type KnownValue,
  type SwitchDescription,
} from './behaviour/behaviour.ts';
export type { PresetName, Provenance } from './behaviour/switch.ts';
export type { BehaviourValues, SwitchName } from './behaviour/switches.ts';
export type { Clock, ClockOptions, Instant, MockClock } from './clock/clock.ts';
export { MockServerError } from './input/mock-server-error.ts';
export type { Audit, JournalEntry, RequestFilter } from './journal/journal.ts';
export type { MockJournal, RequestExpectation, SubscribeOptions, WaitOptions } from './journal/mock-journal.ts';
export type { RequestPattern, ValuePattern } from './matching/request-pattern.ts';
export type { ClientOptions, Space, SpaceOptions } from './mock/mock-methods.ts';
export type { MockServerOptions, OnAssumption, Setup, SetupKey, SetupResult } from './mock/options.ts';
export type { Snapshot } from './mock/snapshot.ts';
export type { Failure, FailureKind } from './rules/failures.ts';
export {
  type LatestData,
  type LatestOptions,
  type MockLatest,
  recordedRules,
} from './rules/latest-rules.ts';
export type { MockRules } from './rules/mock-rules.ts';
export type {
  Answer,
  AnswerContext,
  AnswerFunction,
  Delay,
  InventedData,
  Rule,
  RuleMatch,
  RuleOptions,
  RuleRequest,
  SavedRule,
  SentAnswer,
} from './rules/rule-schema.ts';
export {
  connectMockServer,
  type Remote,
  type RemoteJournal,
  type RemoteMethods,
  type RemoteMockServer,
  type RemoteSpace,
} from './server/connect-mock-server.ts';
export type { RunningServer, ServeOptions } from './server/mock-server.ts';
export { createMockServer, type MockServer } from './server/mock-server.ts';
export type { Account, Accounts, CreateAccountOptions } from './service/accounts.ts';
export type { QuotaUse, RateUse } from './service/decide.ts';
export type { CreatedKey, CreateKeyOptions, KeyFilter, KeySummary, Keys, MinuteUse, SetUsage } from './service/keys.ts';
export type { MockBehaviour } from './service/mock-behaviour.ts';
export type { KeyLimitOptions } from './service/service-state.ts';
