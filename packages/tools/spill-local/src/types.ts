export interface SaveText {
  readonly owner: { readonly sessionId: string }
  readonly source: { readonly toolName: string; readonly callId: string; readonly label?: string }
  /** Ends the file's name: `bash.txt`, `grep-results.txt`. */
  readonly suggestedName: string
  readonly content: string
}

export interface SavedText {
  /** What the model is told: an absolute path. */
  readonly locator: string
  readonly bytes: number
  /** One sentence on how to get at it. */
  readonly retrievalHint: string
}

/** `ctx.spillStore`: keeps texts that are too long for the model's view where its next call can open them. */
export interface SpillStore {
  saveText(request: SaveText): Promise<SavedText>
}
