// The extension through which Pi asks portcullis. `portcullis init pi` writes it; do not change it by hand.
//
// Before a tool runs, the call is put to the program below. It runs only if the program allows it or has nothing to say
// against it. An answer that is late, broken or missing and a program that cannot be started stop the call.

import { spawn } from "node:child_process"

// The program and its arguments; started without a shell.
const COMMAND: string[] = ["@COMMAND@"]

// How long an answer may take, in milliseconds. The program itself answers within 90 seconds.
const LONGEST_WAIT = 95_000
const LONGEST_WAIT_FOR_A_FACT = 10_000

// The longest answer that is read, in characters.
const LONGEST_ANSWER = 1_000_000

const failure = (problem: string) => ({
  decision: "deny",
  reason: `portcullis: ${problem}; blocked to be safe`,
})

// Starts the program, hands it a question and returns what it prints, with its exit code.
const run = (question: any, wait: number): Promise<{ code: number | null; output: string }> =>
  new Promise((resolve, reject) => {
    const text = JSON.stringify(question)
    const child = spawn(COMMAND[0], COMMAND.slice(1), {
      cwd: question.directory,
      stdio: ["pipe", "pipe", "ignore"],
      windowsHide: true,
    })
    let output = ""
    const giveUp = (problem: string) => {
      clearTimeout(timer)
      child.kill("SIGKILL")
      reject(new Error(problem))
    }
    const timer = setTimeout(() => giveUp("no answer in time"), wait)
    child.on("error", (error: any) => giveUp(`the program cannot be started (${error.code ?? "unknown error"})`))
    // A program that ends early is judged by what it printed.
    child.stdin.on("error", () => {})
    child.stdout.setEncoding("utf8")
    child.stdout.on("data", (part: string) => {
      output += part
      if (output.length > LONGEST_ANSWER) giveUp("the answer is too long")
    })
    child.on("close", (code: number | null) => {
      clearTimeout(timer)
      resolve({ code, output })
    })
    child.stdin.end(text)
  })

// Returns what the program says to a call. Whatever goes wrong is a denial.
const judge = async (question: any): Promise<any> => {
  try {
    const { code, output } = await run(question, LONGEST_WAIT)
    const answer = JSON.parse(output)
    const isUnderstood =
      answer !== null &&
      typeof answer === "object" &&
      ["allow", "ask", "deny", "silence"].includes(answer.decision) &&
      typeof answer.reason === "string"
    if (!isUnderstood) return failure("the answer is not understood")
    if (code !== 0 && answer.decision !== "deny") return failure(`the program ended with exit code ${code}`)
    return answer
  } catch (error: any) {
    const problem = error instanceof SyntaxError ? "the answer is not JSON" : error?.message
    return failure(problem || "the permission check failed")
  }
}

const sessionOf = (ctx: any) => {
  try {
    return { sessionID: ctx.sessionManager?.getSessionId?.(), directory: ctx.cwd }
  } catch {
    return { directory: ctx.cwd }
  }
}

export default function (pi: any) {
  pi.on("tool_call", async (event: any, ctx: any) => {
    const args = JSON.stringify(event.input)
    const answer = await judge({
      event: "tool_call",
      ...sessionOf(ctx),
      callID: event.toolCallId,
      tool: event.toolName,
      args: event.input,
      hasUI: ctx.hasUI === true,
    })
    if (typeof answer.notice === "string" && ctx.hasUI) ctx.ui.notify(answer.notice, "warning")
    if (answer.end_run === true) ctx.abort?.()
    const isAsked = answer.decision === "ask" && ctx.hasUI === true
    const isAllowed =
      answer.decision === "allow" ||
      answer.decision === "silence" ||
      (isAsked && (await ctx.ui.confirm("Run this?", answer.reason)) === true)
    if (!isAllowed) return { block: true, reason: answer.reason }
    if (JSON.stringify(event.input) !== args) {
      return { block: true, reason: failure("the call was changed meanwhile").reason }
    }
    return undefined
  })

  // A session that is known from its start needs fewer questions. An entry of a former one is a past that nobody knows.
  pi.on("session_start", async (event: any, ctx: any) => {
    const entries = ctx.sessionManager?.getEntries?.()
    const isFresh = Array.isArray(entries) && !entries.some((entry: any) => entry?.type === "message")
    if (!isFresh || typeof event.reason !== "string") return
    const fact = { event: "session_start", ...sessionOf(ctx), reason: event.reason }
    await run(fact, LONGEST_WAIT_FOR_A_FACT).catch(() => {})
  })

  // What the user said counts for later calls. Nothing waits for what the program says to it.
  pi.on("before_agent_start", async (event: any, ctx: any) => {
    if (typeof event.prompt !== "string" || !event.prompt) return
    const fact = { event: "before_agent_start", ...sessionOf(ctx), text: event.prompt }
    await run(fact, LONGEST_WAIT_FOR_A_FACT).catch(() => {})
  })
}
