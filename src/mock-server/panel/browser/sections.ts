import { ChartSection } from './chart-section.ts';
import { ClockSection } from './clock-section.ts';
import { FaultSection } from './fault-section.ts';
import { JournalSection } from './journal-section.ts';
import { KeySection } from './key-section.ts';
import { OutboxSection } from './outbox-section.ts';
import { SwitchSection } from './switch-section.ts';

/** The sections of the panel, in their order. */
export const SECTIONS = [
  ClockSection,
  ChartSection,
  JournalSection,
  KeySection,
  FaultSection,
  OutboxSection,
  SwitchSection,
];
