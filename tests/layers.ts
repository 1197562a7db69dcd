/**
 * The layers of the house, lowest first. Every package appears once. Values are imported only from lower layers;
 * types also sideways. What imports a value from its own layer is named in `sideways`.
 */
export const layers: readonly { readonly name: string; readonly packages: readonly string[] }[] = [
  { name: 'libraries', packages: ['core', 'compose'] },
  { name: 'host', packages: ['cordis', 'host'] },
  {
    name: 'seams',
    packages: [
      'llm',
      'session',
      'system-prompt',
      'tools',
      'agent',
      'user-approval',
      'fs',
      'sandbox',
      'subprocess',
      'shell',
      'commands',
    ],
  },
  {
    name: 'providers and policies',
    packages: [
      'agent-default-model',
      'agent-instructions',
      'agent-loop',
      'attachment-local',
      'bash-local',
      'bash-sandbox',
      'command-compact',
      'compaction-basic',
      'compaction-tool-result-pruner',
      'credentials-local',
      'file-reference-local',
      'fs-local',
      'fs-observation-policy',
      'fs-sandbox',
      'jobs-local',
      'landlock-run',
      'llm-deepseek',
      'llm-replay',
      'llm-retry',
      'permission-presets',
      'repeat-tool-reminder',
      'sandbox-local',
      'sandbox-policy',
      'session-checkpoint-policy',
      'session-persistence-jsonl',
      'session-title',
      'settings-file',
      'shell-env',
      'spill-local',
      'spill-policy',
      'subprocess-local',
      'token-meter',
      'tool-call-timeout-policy',
    ],
  },
  {
    name: 'tools and surfaces',
    packages: [
      'headless',
      'replay',
      'terminal',
      'tool-bash',
      'tool-bash-persistent',
      'tool-fs',
      'tool-fs-search',
      'tool-jobs',
      'tool-str-replace-editor',
      'tool-todo',
    ],
  },
  {
    name: 'assembly',
    packages: [
      'bundle-base',
      'bundle-headless',
      'bundle-minimal',
      'bundle-terminal',
      'cli',
      'llm-mock-server',
      'testkit',
    ],
  },
]

/** `importer → imported`, both of one layer. */
export const sideways: readonly string[] = [
  // The words under everything, and the door that the host goes through.
  'compose → core',
  'host → cordis',
  // A confining provider wraps the plain one.
  'fs-sandbox → fs-local',
  'bash-sandbox → bash-local',
  // The launcher is a library of this one rung.
  'sandbox-local → landlock-run',
]
