import { lazySchema } from '@dsh/core'
import { retryPolicySchema } from '@dsh/llm'
import * as z from 'zod'

const tokens = () => z.int().positive()
const milliseconds = () => z.int().min(1).max(2_147_483_647)

const modelConfig = () =>
  z.strictObject({
    id: z.string().min(1),
    name: z.string().min(1).optional(),
    description: z.string().optional(),
    contextWindow: tokens().optional(),
    /** Output cap that a request asks for when nobody chose one. */
    maxTokens: tokens().optional(),
    inputModalities: z.array(z.enum(['text', 'image'])).optional(),
    reasoningEfforts: z.array(z.string().min(1)).optional(),
    defaultReasoningEffort: z.string().min(1).optional(),
  })

/** One row speaks to one server. Mount the package again under another id and route for a second one. */
export const Config = lazySchema(() =>
  z.strictObject({
    route: z.string().min(1).default('deepseek-official'),
    displayName: z.string().min(1).default('DeepSeek'),
    /** Default: `$DEEPSEEK_BASE_URL` on the official route, else the official address. */
    baseURL: z.url({ protocol: /^https?$/ }).optional(),
    /** The name of a credential, never a key. `null`: the server wants none. */
    apiKeyEnv: z
      .string()
      .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of a credential, not a key')
      .nullable()
      .default('DEEPSEEK_API_KEY'),
    headers: z.record(z.string(), z.string()).default({}),
    /** `deepseek` sends `thinking` and efforts off/low/high/max; `openai` sends only what every compatible server takes. */
    dialect: z.enum(['deepseek', 'openai']).default('deepseek'),
    models: z.array(modelConfig()).optional(),
    /** For models that are not listed. */
    contextWindow: tokens().optional(),
    maxTokens: tokens().optional(),
    reasoningEffort: z.string().min(1).optional(),
    thinking: z.enum(['enabled', 'disabled']).optional(),
    maxTokensField: z.enum(['max_tokens', 'max_completion_tokens']).default('max_tokens'),
    /** Under which name earlier reasoning is sent back. */
    reasoningField: z.enum(['reasoning_content', 'reasoning', 'none']).optional(),
    streamUsage: z.boolean().default(true),
    /** A stream that ends without `[DONE]` is an error, unless this is off and it named a finish reason. */
    requireDone: z.boolean().default(true),
    /** No byte for so long. */
    streamIdleTimeoutMs: milliseconds().default(300_000),
    /** No data for so long, however many keep-alive comments arrive. */
    streamStallTimeoutMs: milliseconds().default(1_800_000),
    maxResponseBytes: z.int().positive().default(268_435_456),
    /** PEM certificates trusted beside the built-in ones. */
    caFile: z.string().min(1).optional(),
    retryPolicy: retryPolicySchema().optional(),
  }),
)
export type Config = z.infer<typeof Config>
export type ModelConfig = z.infer<ReturnType<typeof modelConfig>>
