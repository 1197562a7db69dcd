/** A row package that comes with the program. */
export interface Builtin {
  readonly load: () => Promise<unknown>
  /** The services it provides, so that a boot report can name who would provide a missing one. */
  readonly provides?: readonly string[]
}

/** One line per row package, each its own chunk; a row that no composition mounts is never read. */
export const builtins: Readonly<Record<string, Builtin>> = {
  '@dsh/session': { load: () => import('@dsh/session'), provides: ['sessions'] },
  '@dsh/session-persistence-jsonl': {
    load: () => import('@dsh/session-persistence-jsonl'),
    provides: ['sessionPersistence'],
  },
  '@dsh/session-checkpoint-policy': { load: () => import('@dsh/session-checkpoint-policy') },
  '@dsh/session-title': { load: () => import('@dsh/session-title'), provides: ['sessionTitle'] },
  '@dsh/agent': { load: () => import('@dsh/agent'), provides: ['agents'] },
  '@dsh/agent-loop': { load: () => import('@dsh/agent-loop'), provides: ['agentLoop'] },
  '@dsh/system-prompt': { load: () => import('@dsh/system-prompt'), provides: ['systemPrompt'] },
  '@dsh/llm': { load: () => import('@dsh/llm'), provides: ['llm'] },
  '@dsh/llm-deepseek': { load: () => import('@dsh/llm-deepseek') },
  '@dsh/llm-retry': { load: () => import('@dsh/llm-retry') },
  '@dsh/llm-replay': { load: () => import('@dsh/llm-replay') },
  '@dsh/replay/driver': { load: () => import('@dsh/replay/driver') },
  '@dsh/token-meter': { load: () => import('@dsh/token-meter'), provides: ['tokenMeter'] },
  '@dsh/compaction-basic': { load: () => import('@dsh/compaction-basic'), provides: ['compaction'] },
  '@dsh/compaction-tool-result-pruner': {
    load: () => import('@dsh/compaction-tool-result-pruner'),
    provides: ['toolResultPruner'],
  },
  '@dsh/command-compact': { load: () => import('@dsh/command-compact') },
  '@dsh/agent-default-model': { load: () => import('@dsh/agent-default-model'), provides: ['agentDefaultModel'] },
  '@dsh/tools': { load: () => import('@dsh/tools'), provides: ['tools'] },
  '@dsh/fs-local': { load: () => import('@dsh/fs-local'), provides: ['fs'] },
  '@dsh/fs-sandbox': { load: () => import('@dsh/fs-sandbox'), provides: ['fs'] },
  '@dsh/fs-observation-policy': { load: () => import('@dsh/fs-observation-policy') },
  '@dsh/tool-fs': { load: () => import('@dsh/tool-fs') },
  '@dsh/tool-fs-search': { load: () => import('@dsh/tool-fs-search') },
  '@dsh/tool-str-replace-editor': { load: () => import('@dsh/tool-str-replace-editor') },
  '@dsh/subprocess-local': { load: () => import('@dsh/subprocess-local'), provides: ['subprocess'] },
  '@dsh/bash-local': { load: () => import('@dsh/bash-local'), provides: ['shell'] },
  '@dsh/bash-sandbox': { load: () => import('@dsh/bash-sandbox'), provides: ['shell'] },
  '@dsh/shell-env': { load: () => import('@dsh/shell-env'), provides: ['shellEnv'] },
  '@dsh/tool-bash': { load: () => import('@dsh/tool-bash') },
  '@dsh/jobs-local': { load: () => import('@dsh/jobs-local'), provides: ['jobs'] },
  '@dsh/tool-jobs': { load: () => import('@dsh/tool-jobs') },
  '@dsh/spill-local': { load: () => import('@dsh/spill-local'), provides: ['spillStore'] },
  '@dsh/spill-policy': { load: () => import('@dsh/spill-policy') },
  '@dsh/tool-todo': { load: () => import('@dsh/tool-todo') },
  '@dsh/sandbox-local': { load: () => import('@dsh/sandbox-local'), provides: ['sandbox'] },
  '@dsh/sandbox-policy': { load: () => import('@dsh/sandbox-policy'), provides: ['sandboxPolicy'] },
  '@dsh/user-approval': { load: () => import('@dsh/user-approval'), provides: ['approval'] },
  '@dsh/settings-file': { load: () => import('@dsh/settings-file'), provides: ['settings'] },
  '@dsh/credentials-local': { load: () => import('@dsh/credentials-local'), provides: ['credentials'] },
  '@dsh/headless': { load: () => import('@dsh/headless') },
  '@dsh/permission-presets': { load: () => import('@dsh/permission-presets'), provides: ['permissionPresets'] },
  '@dsh/agent-instructions': { load: () => import('@dsh/agent-instructions') },
  '@dsh/commands': { load: () => import('@dsh/commands'), provides: ['commands'] },
  '@dsh/tool-call-timeout-policy': { load: () => import('@dsh/tool-call-timeout-policy') },
  '@dsh/repeat-tool-reminder': { load: () => import('@dsh/repeat-tool-reminder') },
  '@dsh/headless/startup': { load: () => import('@dsh/headless/startup'), provides: ['headlessStartup'] },
  '@dsh/terminal': { load: () => import('@dsh/terminal') },
  '@dsh/terminal/startup': { load: () => import('@dsh/terminal/startup'), provides: ['terminalStartup'] },
}
