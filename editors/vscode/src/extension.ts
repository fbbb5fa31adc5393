// Starts the language server `p4cc lsp`, and runs STF tests in a terminal.

import { dirname } from "node:path";
import * as vscode from "vscode";
import { LanguageClient, type LanguageClientOptions, type ServerOptions } from "vscode-languageclient/node";
import { findCommand, pairOf } from "./command";

const MISSING = "Install it with `pip install p4cc`, or set `p4cc.path` to the command.";

let client: LanguageClient | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  context.subscriptions.push(
    vscode.commands.registerCommand("p4cc.runStf", runStf),
    vscode.commands.registerCommand("p4cc.restart", restart),
    vscode.workspace.onDidChangeConfiguration(async (change) => {
      if (change.affectsConfiguration("p4cc")) {
        await restart();
      }
    }),
  );
  await start();
}

export async function deactivate(): Promise<void> {
  await client?.stop();
  client = undefined;
}

async function restart(): Promise<void> {
  await deactivate();
  await start();
}

function command(folder: string | undefined): string {
  return findCommand(vscode.workspace.getConfiguration("p4cc").get("path", ""), folder);
}

async function start(): Promise<void> {
  const settings = vscode.workspace.getConfiguration("p4cc");
  const found = command(vscode.workspace.workspaceFolders?.[0]?.uri.fsPath);
  const server: ServerOptions = { command: found, args: ["lsp"] };
  const options: LanguageClientOptions = {
    documentSelector: [{ language: "p4" }],
    initializationOptions: { include: settings.get("include", []), define: settings.get("define", []) },
  };
  client = new LanguageClient("p4cc", "P4 (p4cc)", server, options);
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    await vscode.window.showErrorMessage(`${found} lsp does not start: ${String(error)}. ${MISSING}`);
  }
}

async function runStf(): Promise<void> {
  const document = vscode.window.activeTextEditor?.document;
  if (document === undefined) {
    return;
  }
  await document.save();
  const pair = pairOf(document.fileName);
  if (pair === undefined) {
    await vscode.window.showErrorMessage(
      `There is no test for ${document.fileName}. Write it to a file of the same name that ends in .stf.`,
    );
    return;
  }
  const folder = dirname(pair.program);
  const process = new vscode.ProcessExecution(command(folder), ["stf", pair.program, pair.test], { cwd: folder });
  const task = new vscode.Task({ type: "p4cc" }, vscode.TaskScope.Workspace, "STF", "p4cc", process);
  await vscode.tasks.executeTask(task);
}
