/** Plain messages: what the model reads about its jobs. */
export const jobMessages = {
  noController:
    'background jobs unavailable: no job controller serves this agent (load @dsh/tool-jobs in its composition)',
  limit: (limit: number) =>
    `background job limit reached for this owner (limit: ${limit}); use job_kill to stop an unneeded job, wait for it to finish, then retry`,
  unknown: (id: string) => `unknown job ${id}`,
  foreign: (id: string) => `job ${id} belongs to another session`,
  waitAborted: 'wait aborted',
  closing: 'background jobs unavailable: the program is ending',
} as const
